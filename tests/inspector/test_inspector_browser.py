"""The inspector's page in a real browser: steps, counts, memories, matches, keys; screenshots stay under build/."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra `inspect` is not installed")
pytest.importorskip("selenium", reason="selenium is not installed")
if not (shutil.which("chromium") and shutil.which("chromedriver")):
    pytest.skip("chromium and chromedriver are not installed", allow_module_level=True)

from helpers.inspected import SCRIPT, new_controller, serving
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

PICTURES = Path(__file__).parents[2] / "build" / "inspector"


class Page:
    """The page, as somebody sees it."""

    def __init__(self, driver: webdriver.Chrome, address: str) -> None:
        self.driver = driver
        driver.get(address)
        self.until(lambda: self.count("read") == "0")

    def until(self, holds: Callable[[], bool]) -> None:
        WebDriverWait(self.driver, 20, ignored_exceptions=[StaleElementReferenceException]).until(lambda _: holds())

    def count(self, name: str) -> str:
        found = self.driver.find_elements(By.CSS_SELECTOR, f"#totals [data-count='{name}']")
        return str(found[0].get_property("textContent")) if found else ""

    def node(self, start: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, f".node[data-name^='{start}']")

    def press(self, keys: str) -> None:
        self.driver.switch_to.active_element.send_keys(keys)

    def cells(self) -> list[str]:
        return [cell.text for cell in self.driver.find_elements(By.CSS_SELECTOR, "#rows tbody td")]

    def text(self, selector: str) -> str:
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def picture(self, name: str) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        assert self.driver.save_screenshot(str(PICTURES / f"{name}.png"))


@pytest.fixture(scope="module")
def driver() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,800"):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium") or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    made = webdriver.Chrome(options=options, service=service)
    yield made
    made.quit()


@pytest.fixture
def page(driver: webdriver.Chrome) -> Iterator[Page]:
    with serving(new_controller()) as address:
        yield Page(driver, address)
        wrong = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        driver.get("about:blank")
    assert wrong == []


def test_step_lets_a_triple_in_and_marks_what_it_touched(page: Page) -> None:
    page.driver.find_element(By.ID, "step").click()
    page.until(lambda: page.count("used") == "1")
    assert page.count("live") == "1"
    touched = page.driver.find_elements(By.CSS_SELECTOR, ".node.touched")
    kinds = {str(node.get_attribute("data-name")).partition(":")[0] for node in touched}
    assert kinds == {"stream", "alpha", "memory", "join"}
    assert "<http://e/a> <http://e/p> <http://e/b>" in page.text("#last")
    page.picture("stepped")


def test_click_on_a_memory_shows_its_rows(page: Page) -> None:
    page.driver.find_element(By.ID, "step").click()
    page.until(lambda: page.count("used") == "1")
    page.node("memory:0").click()
    page.until(lambda: page.cells() == ["0.0", "0.0", "e:b", "e:a"])
    assert page.text("#title") == "memory 0"
    page.picture("memory")


def test_run_goes_to_the_end_and_a_query_shows_its_matches_as_text(page: Page) -> None:
    page.driver.find_element(By.ID, "run").click()
    page.until(lambda: page.text("#state") == "ended")
    assert (page.count("used"), page.count("matches")) == ("3", "2")
    page.node("query:").click()
    page.until(lambda: len(page.cells()) == 8)
    assert page.cells()[3] == f'"{SCRIPT}"'
    assert page.driver.title == "retewave inspector"
    page.picture("matches")


def test_keyboard_steps_opens_searches_and_closes(page: Page) -> None:
    body = page.driver.find_element(By.TAG_NAME, "body")
    body.send_keys("s")
    page.until(lambda: page.count("used") == "1")
    page.driver.execute_script("document.querySelector('.node[data-name=\"memory:0\"]').focus()")
    page.press(Keys.ENTER)
    page.until(lambda: page.cells() == ["0.0", "0.0", "e:b", "e:a"])
    page.press(Keys.ESCAPE)
    page.until(lambda: not page.driver.find_element(By.ID, "panel").is_displayed())
    page.press("/")
    page.press("query")
    page.until(lambda: len(page.driver.find_elements(By.CSS_SELECTOR, ".node.sought")) == 1)
    page.press(Keys.ENTER)
    page.until(lambda: str(page.driver.switch_to.active_element.get_attribute("data-name")).startswith("query:"))


def test_pages_of_a_memory_are_turned(driver: webdriver.Chrome) -> None:
    lines = "".join(f"<http://e/{n}> <http://e/p> <http://e/b> .\n" for n in range(70))
    query = "SELECT * { ?x <http://e/p> ?y . ?y <http://e/q> ?z }"
    controller = new_controller(lines, query)
    controller.set_pace(None)
    with serving(controller) as address:
        page = Page(driver, address)
        page.driver.find_element(By.ID, "run").click()
        page.until(lambda: page.text("#state") == "ended")
        page.node("memory:0").click()
        page.until(lambda: page.text("#place") == "1–50 of 70")
        page.driver.find_element(By.ID, "older").click()
        page.until(lambda: page.text("#place") == "51–70 of 70")
        driver.get("about:blank")


def test_large_network_is_readable_in_the_dark(driver: webdriver.Chrome) -> None:
    controller = new_controller()
    for n in range(7):
        tail = f"?z <http://e/price> ?price FILTER(?price < {n})"
        text = f"SELECT * {{ ?x <http://e/p> ?y . ?y <http://e/q{n % 3}> ?z . {tail} }}"
        controller.engine.register(text, name=f"query {n}")
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    with serving(controller) as address:
        page = Page(driver, address)
        page.driver.find_element(By.ID, "step").click()
        page.until(lambda: page.count("used") == "1")
        nodes = driver.find_elements(By.CSS_SELECTOR, ".node")
        assert len(nodes) >= 40
        heights = {round(node.size["height"]) for node in nodes}
        assert min(heights) >= 20
        page.picture("dark")
        driver.get("about:blank")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_click_on_an_explained_match_shows_why_it_is_one(driver: webdriver.Chrome) -> None:
    with serving(new_controller(explain=True)) as address:
        page = Page(driver, address)
        driver.find_element(By.ID, "run").click()
        page.until(lambda: page.text("#state") == "ended")
        page.node("query:").click()
        page.until(lambda: len(page.cells()) == 8)
        driver.find_element(By.CSS_SELECTOR, "tr.explained").click()
        page.until(lambda: "(1) ?x e:p ?y" in page.text("#why"))
        assert SCRIPT in page.text("#why") and page.driver.title == "retewave inspector"
        page.picture("why")
        driver.get("about:blank")
