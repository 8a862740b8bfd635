// Written by `npm run commands` from the command files; a test fails when it is stale.
import { entriesOf } from '../src/cli/run/entries.ts'
import { administration } from './entries/administration.ts'
import { daemon } from './entries/daemon.ts'
import { healthAndInterface } from './entries/health-and-interface.ts'
import { market } from './entries/market.ts'
import { money } from './entries/money.ts'
import { other } from './entries/other.ts'
import { people } from './entries/people.ts'
import { walletsAndRemotes } from './entries/wallets-and-remotes.ts'

export const entries = entriesOf({
  People: people,
  Money: money,
  Daemon: daemon,
  Market: market,
  Administration: administration,
  'Health and interface': healthAndInterface,
  'Wallets and remotes': walletsAndRemotes,
  Other: other,
})
