import { isDeepStrictEqual } from 'node:util'
import { CliError } from '../cli/exit.ts'
import { withDaemonSettings } from '../cli/public.ts'
import type { DaemonRegistration } from '../client/discover.ts'
import type { Places } from '../client/paths.ts'
import { kebab, shellLine, shellWord } from '../text/text.ts'
import { DEMO, lastLaunch, launchWords, type Typed } from './launch.ts'

/** What `restart` changes of a daemon that runs. */
const changeable: ReadonlySet<string> = new Set([
  'port',
  'host',
  'logLevel',
  'publicUrl',
  'allowHost',
  'trustProxy',
] satisfies readonly (keyof Typed)[])

/** Refuses what was typed where the daemon that runs has it otherwise: nothing that is asked for is passed over. */
export function requireAgreement(places: Places, registration: DaemonRegistration, { seed, ...said }: Typed): void {
  if (seed !== undefined && registration.seed !== undefined && seed !== registration.seed) {
    throw otherSeed(registration.seed, seed)
  }
  const running: Typed = {
    ...withDaemonSettings(places, lastLaunch(places)),
    port: Number(new URL(registration.url).port),
  }
  const others = Object.entries(said).filter(
    // Port 0 is a free one: it has one.
    ([name, value]) =>
      !(name === 'port' && value === 0) &&
      !isDeepStrictEqual(wordsOf(name, value), wordsOf(name, running[name as keyof Typed])),
  )
  if (others.length === 0) return
  const names = others.map(([name]) => `--${kebab(name)}`).join(', ')
  const words = launchWords(said).map(shellWord).join(' ')
  throw new CliError('conflict', `The daemon runs already, with another ${names}.`, {
    facts: [`pid ${registration.pid} at ${registration.url}; nothing was changed`],
    next: others.every(([name]) => changeable.has(name))
      ? [`souk restart ${launchWords(Object.fromEntries(others)).map(shellWord).join(' ')}`]
      : ['souk down', `souk up ${words}`],
  })
}

/** A file is the same however its path is written. */
function wordsOf(name: string, value: unknown): readonly string[] {
  return launchWords({ [name]: value ?? undefined })
}

function otherSeed(has: string, wanted: string): CliError {
  const elsewhere = shellLine`souk up --instance ${wanted} --port 0 --seed ${wanted}`
  return new CliError('conflict', `The daemon runs already over data that began with --seed ${has}, not ${wanted}.`, {
    facts: ['nothing was changed'],
    next: wanted === DEMO ? ['souk seed demo', elsewhere] : [elsewhere],
  })
}
