// Reads a vitest JSON report; prints passed, failed and not-run counts, a line each, then what did not run.
// --files: the files in which something failed, or whose worker ended before its tests. --merge FILE: takes their results
// from a later report, naming what failed or did not run only in the first.
const { readFileSync, writeFileSync } = require('node:fs')

const [path, act, laterPath] = process.argv.slice(2)
const report = JSON.parse(readFileSync(path, 'utf8'))
const say = (line) => process.stdout.write(`${line}\n`)
const testsOf = ({ testResults }) =>
  testResults.flatMap((file) => file.assertionResults.map((test) => ({ ...test, file: file.name })))
const failedOf = (whole) => testsOf(whole).filter((test) => test.status === 'failed')
const notRunOf = (whole) => testsOf(whole).filter((test) => test.status !== 'passed' && test.status !== 'failed')
const brokenOf = ({ testResults }) =>
  testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)

function files() {
  const names = [...failedOf(report), ...notRunOf(report)].map((test) => test.file)
  names.push(...brokenOf(report).map((file) => file.name))
  for (const name of new Set(names)) say(name)
}

function merge() {
  const later = JSON.parse(readFileSync(laterPath, 'utf8'))
  const again = new Map(later.testResults.map((file) => [file.name, file]))
  for (const test of failedOf(report)) say(`failed once: ${test.file} > ${test.fullName}`)
  for (const test of notRunOf(report)) say(`did not run once: ${test.file} > ${test.fullName}`)
  for (const file of brokenOf(report)) say(`failed to load once: ${file.name}`)
  const testResults = report.testResults.map((file) => again.get(file.name) ?? file)
  writeFileSync(path, JSON.stringify({ ...report, testResults }))
}

function count() {
  const tests = testsOf(report)
  const failed = failedOf(report)
  const broken = brokenOf(report)
  const notRun = notRunOf(report)
  for (const number of [tests.length - failed.length - notRun.length, failed.length + broken.length, notRun.length])
    say(number)
  for (const test of notRun) say(`did not run: ${test.file} > ${test.fullName}`)
  for (const test of failed) say(`failed: ${test.file} > ${test.fullName}`)
  for (const file of broken) say(`failed to load: ${file.name}`)
}

const acts = { '--files': files, '--merge': merge }
;(acts[act] ?? count)()
