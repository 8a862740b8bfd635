// Reads a vitest JSON report; prints passed, failed and not-run counts, a line each, then what did not run.
const { readFileSync } = require('node:fs')

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const tests = report.testResults.flatMap((file) => file.assertionResults.map((test) => ({ ...test, file: file.name })))
const brokenFiles = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
const passed = tests.filter((test) => test.status === 'passed')
const failed = tests.filter((test) => test.status === 'failed')
const notRun = tests.filter((test) => test.status !== 'passed' && test.status !== 'failed')

process.stdout.write(`${passed.length}\n${failed.length + brokenFiles.length}\n${notRun.length}\n`)
for (const test of notRun) process.stdout.write(`did not run: ${test.file} > ${test.fullName}\n`)
for (const test of failed) process.stdout.write(`failed: ${test.file} > ${test.fullName}\n`)
for (const file of brokenFiles) process.stdout.write(`failed to load: ${file.name}\n`)
