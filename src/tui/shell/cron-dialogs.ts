import { safe } from '../../text/text.ts'
import { textOf } from '../parts/line.ts'
import { type CronFacts, cronWord } from './cron-facts.ts'
import type { DialogSpec } from './dialog.ts'
import { shellCommand } from './pause-dialog.ts'
import { runCron, setCronPaused } from './queries.ts'
import type { Host } from './screen.ts'

/** A cron by name, if known. */
export function cronOf(host: Host, name: string): CronFacts | undefined {
  return host.health()?.crons.find((cron) => cron.name === name)
}

/** Runs a cron now. */
export function runDialog(host: Host, cron: CronFacts): DialogSpec {
  return {
    title: 'RUN A CRON NOW',
    about: cron.name,
    facts: () => [
      ['cron', cron.name],
      ['state', textOf([cronWord(cron)])],
      ['What it does', 'runs it once now, in addition to its schedule'],
    ],
    verb: 'Run',
    command: () => shellCommand(host, ['crons', 'run', cron.name]),
    send: async () => {
      const answer = await runCron(host.link, cron.name)
      return answer.ok ? { ok: true, value: safe(`${cron.name}: ${answer.value}`) } : answer
    },
  }
}

/** Pauses or resumes a cron. */
export function cronPauseDialog(host: Host, cron: CronFacts): DialogSpec {
  const paused = cron.more?.paused === true
  return {
    title: paused ? 'RESUME A CRON' : 'PAUSE A CRON',
    about: cron.name,
    facts: () => [
      ['cron', cron.name],
      ['state', textOf([cronWord(cron)])],
      paused
        ? ['What it does', 'it runs on schedule again']
        : ['What it does', 'it no longer runs automatically; R still runs it'],
    ],
    verb: paused ? 'Resume' : 'Pause',
    command: () => shellCommand(host, ['crons', paused ? 'resume' : 'pause', cron.name]),
    send: async () => {
      const answer = await setCronPaused(host.link, !paused, cron.name)
      if (!answer.ok) return answer
      return { ok: true, value: `${cron.name} ${paused ? 'runs on schedule again' : 'is paused'}.` }
    },
  }
}
