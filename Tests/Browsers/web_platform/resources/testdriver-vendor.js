// Takes the place of the file of this name in the checkout: the laboratory does what tests ask of their driver. It only
// sees the window that it opened; other windows and frames ask the window that tests name as their context.
(() => {
    const requests = [], pending = new Map();
    let last = 0, context = null;
    const isShown = window === window.top && !window.opener;
    const answer = (id, value, error) => {
        const [resolve, reject] = pending.get(id);
        pending.delete(id);
        error ? reject(new Error(error)) : resolve(value);
    };
    const ask = (command) => new Promise((resolve, reject) => {
        const id = ++last;
        pending.set(id, [resolve, reject]);
        if (isShown) requests.push({id, command});
        else (context ?? window.opener ?? window.parent).postMessage({laboratoryRequest: id, command}, '*');
    });
    window.addEventListener('message', event => {
        const data = event.data;
        if (data?.laboratoryRequest) {
            const reply = (value, error) =>
                event.source.postMessage({laboratoryAnswer: data.laboratoryRequest, value, error}, '*');
            ask(data.command).then(value => reply(value), error => reply(null, error.message));
        } else if (data?.laboratoryAnswer) answer(data.laboratoryAnswer, data.value, data.error);
        else return;
        event.stopImmediatePropagation();
    }, true);
    window.laboratoryRequests = {next: () => requests.shift() ?? null, answer};
    Object.assign(window.test_driver_internal, {
        in_automation: true,
        set_test_context(value) { context = value; },
        async click(element) { element.click(); },
        delete_all_cookies: () => ask('delete'),
        get_all_cookies: () => ask('list'),
        get_named_cookie: async name => (await ask('list')).find(cookie => cookie.name === name),
    });
})();
