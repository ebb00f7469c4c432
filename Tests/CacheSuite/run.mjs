// Runs the tests of a checkout of http-tests/cache-tests that apply to proxies, and counts the passed ones.
//
//     node run.mjs SUITE NAME BASE [--proxy URL] [--expected FILE]
//
// NAME is printed with the results. BASE is the URL of the suite's server, or of a reverse proxy in front of it. With
// --expected, fails if other tests fail than those in FILE, a JSON object of identifiers and reasons.

import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { pathToFileURL } from 'node:url'
import { useClient } from './client.mjs'

const { values: options, positionals: [suite, name, base] } = parseArgs({
  allowPositionals: true,
  options: { proxy: { type: 'string' }, expected: { type: 'string' } }
})
const load = file => import(pathToFileURL(path.resolve(suite, file)))

useClient(options.proxy)
const { default: all } = await load('tests/index.mjs')
const { runTests, getResults } = await load('test-engine/client/runner.mjs')

// The tests of kind "check" are questions, to which no answer is wrong.
const kinds = ['required', 'optimal']
const kind = test => test.kind ?? 'required'
const tests = all.flatMap(group => group.tests)
  .filter(test => !test.browser_only && !test.cdn_only && kinds.includes(kind(test)))
await runTests([{ tests }], false, base)
const results = getResults()

const failed = tests.filter(test => results[test.id] !== true)
const counts = kinds.map(each => {
  const ofKind = tests.filter(test => kind(test) === each)
  return `${ofKind.filter(test => !failed.includes(test)).length} of ${ofKind.length} ${each}`
})
console.log(`${name}: ${counts.join(', ')}`)

const expected = options.expected && JSON.parse(fs.readFileSync(options.expected, 'utf8'))
for (const test of failed) {
  const reason = expected && ` (${expected[test.id] ? `expected: ${expected[test.id]}` : 'not expected'})`
  console.log(`  ${kind(test)} ${test.id}: ${results[test.id].join(': ')}${reason ?? ''}`)
}
const passed = Object.keys(expected ?? {}).filter(id => !failed.some(test => test.id === id))
for (const id of passed) console.log(`  ${id} is expected to fail, and has passed or does not exist`)
// The connections that are still open would keep the program running.
process.exit(expected && (passed.length > 0 || failed.some(test => !expected[test.id])) ? 1 : 0)
