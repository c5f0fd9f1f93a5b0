"""The Python of opassert: it runs in the interpreter of a user, imported from the zip that host.go writes."""
