// `npm run bench [-- --json] [section …]`: the budgets of the design as ratios, each measured in this run.
// `npm run bench -- growth --purchases N --json`: what a store costs that has made so many, in one line.

import { parseArgs } from 'node:util'
import { catalog } from './catalog.ts'
import { cockpit } from './cockpit.ts'
import { growth } from './growth.ts'
import { hostile } from './hostile.ts'
import { http } from './http.ts'
import { describeMachine, machineLine } from './machine.ts'
import { paid } from './paid.ts'
import { heading, isKept, line, median, type Section, type SectionReport } from './report.ts'
import { services } from './services.ts'
import { start } from './start.ts'
import { storage } from './storage.ts'

const sections: readonly Section[] = [
  { name: 'http', run: http },
  { name: 'paid', run: paid },
  { name: 'start', run: start },
  { name: 'cockpit', run: cockpit },
  { name: 'storage', run: storage },
  { name: 'catalog', run: catalog },
  { name: 'hostile', run: hostile },
  { name: 'services', run: services },
]
const MILLISECONDS_A_SECOND = 1_000
const DEFAULT_PURCHASES = 10_000

const { values, positionals: names } = parseArgs({
  options: { json: { type: 'boolean', default: false }, purchases: { type: 'string' } },
  allowPositionals: true,
})
const isJson = values.json
if (names.includes('growth')) {
  const purchases = Number(values.purchases ?? DEFAULT_PURCHASES)
  if (!Number.isInteger(purchases) || purchases < 1) throw new Error('--purchases: a whole number from 1')
  console.log(JSON.stringify(await growth(purchases)))
  process.exit()
}
const unknown = names.filter((name) => !sections.some((section) => section.name === name))
if (unknown.length > 0) {
  console.error(`There is no section ${unknown.join(', ')}: ${sections.map((section) => section.name).join(', ')}.`)
  process.exit(1)
}

const machine = describeMachine()
if (!isJson) console.log(`${machineLine(machine)}\n\n${heading}`)
const reports: SectionReport[] = []
for (const section of sections.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const report = await run(section)
  reports.push(report)
  if (!isJson) print(report)
}
if (isJson) console.log(JSON.stringify({ machine, sections: reports.map(document) }, null, 2))
if (reports.some((report) => report.failure !== undefined)) process.exitCode = 1

async function run({ name, run: measure }: Section): Promise<SectionReport> {
  const started = performance.now()
  const seconds = () => Math.round((performance.now() - started) / MILLISECONDS_A_SECOND)
  try {
    const measured = await measure()
    return { section: name, measured, seconds: seconds() }
  } catch (error) {
    const failure = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { section: name, measured: [], seconds: seconds(), failure }
  }
}

function print({ section, seconds, measured, failure }: SectionReport): void {
  console.log(`${section} (${seconds} s)`)
  if (failure !== undefined) console.log(`  did not run: ${failure}`)
  for (const one of measured) console.log(line(one))
}

function document({ measured, ...report }: SectionReport) {
  return {
    ...report,
    measured: measured.map((one) => ({ ...one, median: median(one.values), ok: isKept(one) ?? null })),
  }
}
