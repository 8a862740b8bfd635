// `npm run bench [-- section …]`: the budgets of the design as ratios, each measured in this run.
// `npm run bench -- growth --purchases N --json`: what a store costs that has made so many, in one line; with
// `--database` the same of a store in PostgreSQL: purchases, a large catalog and copies, or one of them by `--only PART`.

import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { catalog } from './catalog.ts'
import { cockpit } from './cockpit.ts'
import { database } from './database.ts'
import { databaseGrowth } from './database-growth.ts'
import { growth } from './growth.ts'
import { hostile } from './hostile.ts'
import { http } from './http.ts'
import { paid } from './paid.ts'
import { heading, line, type Measured } from './report.ts'
import { services } from './services.ts'
import { start } from './start.ts'
import { storage } from './storage.ts'

const sections: Readonly<Record<string, () => Promise<readonly Measured[]>>> = {
  http,
  paid,
  start,
  cockpit,
  storage,
  catalog,
  database,
  hostile,
  services,
}
const DEFAULT_PURCHASES = 10_000

const { values, positionals: names } = parseArgs({
  options: {
    json: { type: 'boolean' },
    database: { type: 'boolean' },
    only: { type: 'string' },
    purchases: { type: 'string' },
  },
  allowPositionals: true,
})
if (names.includes('growth')) {
  const purchases = Number(values.purchases ?? DEFAULT_PURCHASES)
  if (!Number.isInteger(purchases) || purchases < 1) throw new Error('--purchases: a whole number from 1')
  const figures = values.database ? await databaseGrowth(purchases, values.only) : await growth(purchases)
  console.log(JSON.stringify(figures))
  process.exit()
}
const unknown = names.filter((name) => sections[name] === undefined)
if (unknown.length > 0) {
  console.error(`There is no section ${unknown.join(', ')}: ${Object.keys(sections).join(', ')}.`)
  process.exit(1)
}

const [processor, ...others] = cpus()
const load = loadavg().map((value) => value.toFixed(2))
console.log(
  `${processor?.model}, ${others.length + 1} cores, Node ${process.version}, load ${load.join(' ')}\n\n${heading}`,
)
for (const [name, measure] of Object.entries(sections)) {
  if (names.length > 0 && !names.includes(name)) continue
  console.log(name)
  try {
    for (const one of await measure()) console.log(line(one))
  } catch (error) {
    console.log('  did not run:', error)
    process.exitCode = 1
  }
}
