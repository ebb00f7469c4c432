"""Opens a page with Playwright in Debian's Chromium, and runs under the interpreter that has Playwright.

    playwright_client.py save PROXY URL STATE COOKIES HAR
    playwright_client.py open PROXY URL STATE
"""

import json
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

command, proxy, url, state, *more = sys.argv[1:]
with sync_playwright() as library:
    browser = library.chromium.launch(executable_path="/usr/bin/chromium",
                                      proxy={"server": proxy, "bypass": "<-loopback>"})
    if command == "open":
        context = browser.new_context(ignore_https_errors=True, storage_state=state)
        context.new_page().goto(url)
    else:
        cookies, har = more
        context = browser.new_context(ignore_https_errors=True, record_har_path=har)
        context.new_page().goto(url)
        context.storage_state(path=state)
        Path(cookies).write_text(json.dumps(context.cookies()))
        context.close()
    browser.close()
