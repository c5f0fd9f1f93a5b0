"""What a project's own plugin does: tests that are coroutines, and another order."""

import asyncio
import inspect
import random

import pytest


def pytest_addoption(parser):
    parser.addoption("--shuffle", type=int, default=0)


def pytest_collection_modifyitems(config, items):
    if config.getoption("--shuffle"):
        random.Random(config.getoption("--shuffle")).shuffle(items)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        asyncio.run(pyfuncitem.obj())
        return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.user_properties.append(("when", call.when))
    return report


@pytest.fixture(scope="session", autouse=True)
def of_session():
    yield "session"
