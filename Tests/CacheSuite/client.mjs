// The `fetch` and the `undici` of the suite's tests, over `node:http`: goes through a proxy, and sees interim responses.

import http from 'node:http'
import { register } from 'node:module'

const agent = new http.Agent({ keepAlive: true })

// What the suite imports as `undici`, which is not part of Node.
const hooks = `export const resolve = (name, context, next) =>
  name === 'undici' ? { url: ${JSON.stringify(import.meta.url)}, shortCircuit: true } : next(name, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)

/** Hands the interim responses of one `fetch` to an interceptor. */
export class Agent {
  compose (interceptor) {
    let observer
    interceptor((_, handler) => { observer = handler })({}, {})
    return observer
  }
}

/** Sets the global `fetch` to one that sends requests over http to a proxy, or to the server if there is no proxy. */
export function useClient (proxy) {
  globalThis.fetch = (url, init = {}) => new Promise((resolve, reject) => {
    const target = new URL(url)
    const next = proxy ? new URL(proxy) : target
    // Joins the values of a field in one line, as fetch does.
    const headers = new Headers(init.headers)
    const defaults = { host: target.host, accept: '*/*', 'accept-language': '*', 'user-agent': 'node' }
    for (const [name, value] of Object.entries(defaults)) {
      if (!headers.has(name)) headers.set(name, value)
    }
    if (typeof init.body === 'string') {
      headers.set('content-length', Buffer.byteLength(init.body))
      if (!headers.has('content-type')) headers.set('content-type', 'text/plain;charset=UTF-8')
    }
    const request = http.request({
      agent,
      host: next.hostname,
      port: next.port,
      method: init.method ?? 'GET',
      path: proxy ? target.href : target.pathname + target.search,
      headers: Object.fromEntries(headers),
      signal: init.signal
    })
    request.on('error', reject)
    request.on('information', ({ statusCode, headers }) => {
      init.dispatcher?.onResponseStart(undefined, statusCode, headers)
    })
    request.on('response', response => {
      const received = new Headers()
      for (let i = 0; i < response.rawHeaders.length; i += 2) {
        received.append(response.rawHeaders[i], response.rawHeaders[i + 1])
      }
      resolve({
        status: response.statusCode,
        statusText: response.statusMessage,
        headers: received,
        text: async () => (await response.setEncoding('utf8').toArray()).join('')
      })
    })
    request.end(init.body)
  })
}
