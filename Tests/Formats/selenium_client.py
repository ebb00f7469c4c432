"""Opens a page with Selenium in Debian's Chromium, and runs under the interpreter that has Selenium.

    selenium_client.py save PROXY URL COOKIES
    selenium_client.py open PROXY URL COOKIES FIRST-PAGE
"""

import json
import os
import sys
from pathlib import Path

from selenium import webdriver

command, proxy, url, file, *first_page = sys.argv[1:]
options = webdriver.ChromeOptions()
options.binary_location = "/usr/bin/chromium"
options.accept_insecure_certs = True
for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--password-store=basic", f"--proxy-server={proxy}",
                 "--proxy-bypass-list=<-loopback>", *(["--no-sandbox"] if os.geteuid() == 0 else [])):
    options.add_argument(argument)
with webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver")) as driver:
    if command == "open":
        driver.get(first_page[0])
        for cookie in json.loads(Path(file).read_text()):
            driver.add_cookie(cookie)
    driver.get(url)
    if command == "save":
        Path(file).write_text(json.dumps(driver.get_cookies()))
