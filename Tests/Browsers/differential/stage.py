"""The server's side of the cases: answers each step as the case says, and notes the cookies that come."""

import json
import threading

from differential.case import SUBRESOURCES, Case, Reach
from differential.observation import Interface, Observations, Place
from server.messages import Request, Response, redirect

GIF = bytes.fromhex("47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b")

# Runs a page's actions one after the other; whatever fails, the next one comes.
PAGE = """<!doctype html><title>%(title)s</title><body><script>
const settled = element => new Promise(done => {
  element.onload = element.onerror = done;
  setTimeout(done, 5000);
  document.body.append(element);
});
const perform = {
  write: text => { document.cookie = text },
  read: url => fetch(url, {method: "POST", body: document.cookie, credentials: "omit"}),
  fetch: url => fetch(url, {mode: "no-cors", credentials: "include"}),
  image: url => settled(Object.assign(new Image(), {src: url})),
  frame: url => settled(Object.assign(document.createElement("iframe"), {src: url})),
  location: url => { location.replace(url) },
  form: url => {
    const form = Object.assign(document.createElement("form"), {method: "post", action: url});
    document.body.append(form);
    form.submit();
  },
  done: url => fetch(url, {credentials: "omit"}),
};
(async () => {
  for (const [action, argument] of %(actions)s) {
    try { await perform[action](argument) } catch (error) { console.log(error) }
  }
})();
</script></body>"""


class Stage:
    """Plays one case after the other for one browser."""

    def __init__(self) -> None:
        self._case: Case | None = None
        self._seen = Observations()
        self._done = threading.Event()

    def begin(self, case: Case) -> str:
        """Takes up a case; answers the URL to go to."""
        self._seen = Observations()
        self._done.clear()
        self._case = case
        return step_url(case, 0)

    def finish(self, timeout: float) -> tuple[Observations, bool]:
        """What was seen once the browser is through, or has had `timeout` seconds."""
        complete = self._done.wait(timeout)
        self._case = None
        return self._seen, complete

    def answer(self, request: Request) -> Response | None:
        """The answer to a request of the present case; `None` to whatever else browsers ask for."""
        case, seen = self._case, self._seen
        parameters = request.parameters
        if case is None or parameters.get("case") != str(case.number):
            return None
        index = int(parameters["step"])
        if "done" in parameters:
            self._done.set()
            return Response(status=204)
        if "read" in parameters:
            seen.cookies.setdefault(Place(index, Interface.SCRIPT), request.body)
            return Response(status=204)
        seen.cookies.setdefault(Place(index), request.cookie)
        return self._response(case, index)

    def _response(self, case: Case, index: int) -> Response:
        step = case.steps[index]
        following = case.steps[index + 1] if index + 1 < len(case.steps) else None
        if following and following.reach is Reach.REDIRECT:
            return redirect(step_url(case, index + 1), step.set_cookie)
        reach = case.request_reach(index)
        if reach is Reach.IMAGE:
            return Response(body=GIF, content_type=b"image/gif", set_cookie=step.set_cookie)
        if reach in SUBRESOURCES:
            return Response(body=b"<!doctype html>", set_cookie=step.set_cookie)
        actions = json.dumps(_actions(case, index)).replace("<", "\\u003c")
        if not following and not step.writes:
            # Nothing is left to see.
            self._done.set()
        page = PAGE % {"title": f"case {case.number}, step {index}", "actions": actions}
        return Response(body=page.encode("ascii"), set_cookie=step.set_cookie)


def _actions(case: Case, index: int) -> list[tuple[str, str]]:
    """What the page of step `index` has to do, until it is left."""
    step = case.steps[index]
    actions = [("write", text) for text in step.writes]
    if step.writes:
        actions.append(("read", _own_url(case, index, "read")))
    for later in range(index + 1, len(case.steps)):
        reach = case.steps[later].reach
        if reach is Reach.REDIRECT:
            continue
        actions.append((reach.value, step_url(case, later)))
        if reach not in SUBRESOURCES:
            return actions
    if len(actions) > 0:
        actions.append(("done", _own_url(case, index, "done")))
    return actions


def step_url(case: Case, index: int) -> str:
    """The URL of a step, with a query that leads back to it."""
    return f"{case.steps[index].url}?case={case.number}&step={index}"


def _own_url(case: Case, index: int, purpose: str) -> str:
    # Without the path: a path could hold anything.
    return f"{case.steps[index].origin}/?case={case.number}&step={index}&{purpose}"
