import type { Held } from '../../client/link.ts'
import { type Delivery, lastOf } from '../../nouns/deliveries.ts'
import { safe, shellWord } from '../../text/text.ts'
import { textOf } from '../parts/line.ts'
import { type Sent, shellCommand } from './ask.ts'
import { cronWord, type ListedCron } from './cron-facts.ts'
import type { DialogSpec } from './dialog.ts'
import { ask } from './queries.ts'
import type { Host } from './screen.ts'

export function cronOf(host: Host, name: string): ListedCron | undefined {
  return host.health()?.crons.find((cron) => cron.name === name)
}

export function runDialog(host: Host, cron: ListedCron): DialogSpec {
  return {
    title: 'RUN A CRON NOW',
    about: cron.name,
    facts: () => [
      ['cron', cron.name],
      ['state', textOf([cronWord(cron)])],
      ['What it does', 'runs the cron once now, in addition to its schedule'],
    ],
    verb: 'Run',
    command: () => shellCommand(host, ['crons', 'run', cron.name]),
    send: () =>
      ask(host.link, { name: 'runCron', asked: { params: { name: cron.name } } }, ({ run }) => {
        const why = run.reason === null ? '' : ` (${run.reason})`
        return safe(`${cron.name}: ${run.result}${why} in ${run.took_ms} ms`)
      }),
  }
}

export function cronPauseDialog(host: Host, cron: ListedCron): DialogSpec {
  const paused = cron.paused === true
  return {
    title: paused ? 'RESUME A CRON' : 'PAUSE A CRON',
    about: cron.name,
    facts: () => [
      ['cron', cron.name],
      ['state', textOf([cronWord(cron)])],
      paused
        ? ['What it does', 'the cron runs on schedule again']
        : ['What it does', 'the cron no longer runs automatically; R still runs it'],
    ],
    verb: paused ? 'Resume' : 'Pause',
    command: () => shellCommand(host, ['crons', paused ? 'resume' : 'pause', cron.name]),
    send: () => {
      const call = { name: paused ? 'resumeCron' : 'pauseCron', asked: { params: { name: cron.name } } } as const
      return ask(host.link, call, () => `${cron.name} ${paused ? 'runs on schedule again' : 'is paused'}.`)
    },
  }
}

type Replayed = { readonly id: string; readonly who: string; readonly sentence: string }

/** What a replay dialog says about a delivery. */
export function replayOf(delivery: Delivery, who: string): Replayed {
  const { delivery_id: id, type, attempts } = delivery
  return { id, who, sentence: safe(`${type}, ${attempts.length} tries: ${lastOf(delivery) ?? 'no answer'}`) }
}

export function replayDialog(host: Host, { id, who, sentence }: Replayed): DialogSpec {
  return {
    title: 'SEND A DELIVERY AGAIN',
    about: `${id}  ${who}`,
    facts: () => [
      ['delivery', id],
      ['to', who],
      ['so far', sentence],
      ['What it does', 'the delivery is sent again with the same event id; no money moves'],
    ],
    verb: 'Send',
    command: () => shellCommand(host, ['admin', 'webhooks', 'replay', id]),
    send: (): Sent =>
      ask(host.link, { name: 'replayForOperator', asked: { params: { id } } }, () => `${id} is sent again.`),
  }
}

/** Makes a dialog run its shell command, since only the command line has the wallet's key. */
export function spoken(host: Host, spec: DialogSpec, speaker: Held | undefined): DialogSpec {
  const as = speaker === undefined ? '' : ` --as ${shellWord(speaker.wallet)}`
  const command: DialogSpec['command'] = (values) => `${spec.command(values)}${as}`
  const voice = speaker === undefined ? {} : { as: speaker.wallet }
  return { ...spec, ...voice, command, send: (values) => run(host, command(values)) }
}

async function run({ commandLine, link }: Host, command: string): Sent {
  const [, ...words] = commandLine?.split(command) ?? []
  if (commandLine === undefined || words.length === 0) {
    return {
      ok: false,
      problem: { kind: 'failed', sentence: 'This cockpit cannot run commands.', facts: [], next: [] },
    }
  }
  const confirmed = link.place.guarded ? ['--confirm', link.place.name] : []
  return commandLine.run([...words, '--yes', ...confirmed, '--no-input'])
}

export function said(host: Host, spec: DialogSpec): DialogSpec {
  const { speaker } = host.ui.get()
  return speaker === undefined ? spec : spoken(host, spec, speaker)
}
