"""What the stories of the inspector share: what they found wrong, and the way in."""

import json

from engines.engine import Engine, EngineFailure
from engines.waiting import wait_for

# What a person must be able to tell apart has a contrast of 4.5 at least (WCAG 2.2, success criterion 1.4.3).
CONTRAST = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const octets = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const luminance = (color) => octets(color).slice(0, 3).map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = (element) => { for (let e = element; e; e = e.parentElement) {
    const color = getComputedStyle(e).backgroundColor; if (octets(color)[3] === 255) return color; } return "#fff"; };
  let least = 21;
  for (const element of document.querySelectorAll("body *")) {
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(ground(element))];
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
})()"""


class Story:
    """What was looked at, and what was not as it should be."""

    def __init__(self, engine: str):
        self._engine = engine
        self.failures: list[str] = []

    def check(self, what: str, value: object, wanted: object = True) -> None:
        """Notes it where a value is not the wanted one."""
        if value != wanted:
            self.failures.append(f"{self._engine}: {what}: {value!r} instead of {wanted!r}")


def wait_for_title(engine: Engine, wanted: str) -> None:
    """Waits until the page of this title is there."""
    def title() -> object:
        try:
            return engine.evaluate("document.readyState === 'complete' && document.title")
        except EngineFailure as failure:
            # The page that was asked has gone.
            return str(failure)

    try:
        wait_for(lambda: title() == wanted or None, f"the page {wanted!r}", 20)
    except EngineFailure as failure:
        raise EngineFailure(f"{failure}; there is {title()!r}") from failure


def sign_in(engine: Engine, token: str) -> None:
    """Fills in the form."""
    engine.evaluate(f"(document.querySelector('#token').value = {json.dumps(token)}, "
                    "document.querySelector('form.stacked').requestSubmit(), true)")
