// Reads a vitest JSON report; prints passed, failed and not-run counts, a line each, then what failed or did not run.
const { readFileSync } = require('node:fs')

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const say = (line) => process.stdout.write(`${line}\n`)
const tests = testResults.flatMap((file) => file.assertionResults.map((test) => ({ ...test, file: file.name })))
const failed = tests.filter((test) => test.status === 'failed')
const notRun = tests.filter((test) => test.status !== 'passed' && test.status !== 'failed')
const broken = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)

for (const number of [tests.length - failed.length - notRun.length, failed.length + broken.length, notRun.length])
  say(number)
for (const test of notRun) say(`did not run: ${test.file} > ${test.fullName}`)
for (const test of failed) say(`failed: ${test.file} > ${test.fullName}: ${test.failureMessages[0]?.split('\n')[0]}`)
for (const file of broken) say(`failed to load: ${file.name}`)
