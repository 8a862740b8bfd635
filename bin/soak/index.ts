// `npm run soak [-- section …]`: crashes and load for as long as it takes; ends with 1 when anything was lost.

import { runJobHistories } from '../../fixtures/market/job-histories.ts'
import { run as crons } from './crons.ts'
import { run as kill9 } from './kill9.ts'
import { run as payments } from './payments.ts'
import { run as unpaid } from './unpaid.ts'

const KILL9_ROUNDS = 100
const PAYMENT_ROUNDS = 25
const CRON_KILLS = 25
const HISTORIES = 2_000
const UNPAID_PURCHASES = 100_000

const sections: Readonly<Record<string, () => Promise<unknown>>> = {
  kill9: () => kill9(KILL9_ROUNDS, 'memory'),
  kill9level: () => kill9(KILL9_ROUNDS, 'level'),
  payments: () => payments(PAYMENT_ROUNDS),
  crons: () => crons(CRON_KILLS),
  /** Each cent is looked for after every step; a fault is a throw. */
  histories: () => runJobHistories(HISTORIES),
  unpaid: () => unpaid(UNPAID_PURCHASES),
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => sections[name] === undefined)
if (unknown.length > 0) {
  console.error(`There is no section ${unknown.join(', ')}: ${Object.keys(sections).join(', ')}.`)
  process.exit(1)
}
for (const [name, run] of Object.entries(sections)) {
  if (names.length > 0 && !names.includes(name)) continue
  console.log(`${name} ${JSON.stringify(await run())}`)
}
