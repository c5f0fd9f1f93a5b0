"""A hook of the site: links from a page to other files than pages lead to the repository."""
import logging
import os
import re

log = logging.getLogger("mkdocs.hooks.links")
LINK = re.compile(r"(\]\()([^)#:\s]+)(#[^)]*)?\)")
BLOCK = re.compile(r"(^```.*?^```|^    [^\n]*$)", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown, page, config, files):
    root = os.path.dirname(config.config_file_path)
    folder = os.path.dirname(page.file.abs_src_path)

    def lead(match):
        path = os.path.normpath(os.path.join(folder, match[2]))
        if not os.path.exists(path):
            log.warning("%s links to %s, which does not exist", page.file.src_uri, match[2])
        inside = os.path.relpath(path, config.docs_dir)
        known = files.get_file_from_path(inside)
        if known and known.is_documentation_page():
            return match[0]
        kind = "tree" if os.path.isdir(path) else "blob"
        return f"{match[1]}{config.repo_url}/{kind}/main/{os.path.relpath(path, root)}{match[3] or ''})"

    parts = BLOCK.split(markdown)  # every second one is code
    parts[::2] = [LINK.sub(lead, text) for text in parts[::2]]
    return "".join(parts)
