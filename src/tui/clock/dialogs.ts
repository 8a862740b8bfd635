import type { Outcome } from '../../client/link.ts'
import { DAY_MS, HOUR_MS } from '../../core/time.ts'
import { count } from '../../text/text.ts'
import { dateTime, zonedTime } from '../../text/time.ts'
import type { DialogSpec, Field, Told, Values } from '../shell/dialog.ts'
import { nameField, shellCommand, targetFacts } from '../shell/pause-dialog.ts'
import { ask } from '../shell/queries.ts'
import type { Host } from '../shell/screen.ts'
import type { ClockFacts } from './facts.ts'

/** A day ahead runs every cron that falls due on the way, one after the other. */
const MOVE_TIMEOUT_MS = 5 * 60_000
const SNAPSHOT = 'before-clock'

const steps = ['1h', '1d', 'next cron'] as const
const answers = ['yes', 'no'] as const

const step: Field = {
  name: 'step',
  label: 'How far',
  choices: steps,
  check: (value) => (value === '' ? 'needs how far' : undefined),
}

const snapshot: Field = {
  name: 'snapshot',
  label: `Keep a snapshot of the store first, ${SNAPSHOT} (it takes the place of the one before)`,
  choices: answers,
  check: (value) => (value === '' ? 'needs yes or no' : undefined),
}

type Move = {
  readonly body: { readonly advance_ms: number } | { readonly set: string }
  readonly words: readonly string[]
}

function moveOf(chosen: string | undefined, { nextCron }: ClockFacts): Move | undefined {
  if (chosen === '1h') return { body: { advance_ms: HOUR_MS }, words: ['clock', 'advance', '1h'] }
  if (chosen === '1d') return { body: { advance_ms: DAY_MS }, words: ['clock', 'advance', '1d'] }
  if (chosen !== 'next cron' || nextCron === undefined) return undefined
  const set = new Date(nextCron.at).toISOString()
  return { body: { set }, words: ['clock', 'set', set] }
}

/** Moves business time ahead, with a copy of the store to go back to. */
export function moveDialog(host: Host, clock: ClockFacts): DialogSpec {
  const { snapshot: save } = host
  const saves = ({ snapshot: said }: Values) => save !== undefined && said === 'yes'
  return {
    title: 'MOVE THE CLOCK AHEAD',
    facts: ({ step: chosen }) => [
      ...targetFacts(host),
      ['', ''],
      ['business time', `${zonedTime(clock.now)}${clock.isFrozen ? ', it stands still' : ''}`],
      ['What happens', 'due events happen in order: crons, payouts, refunds, renewals'],
      ['No way back', 'time goes only ahead; a snapshot is the way to the state before'],
      ...(chosen === 'next cron' ? [['next cron', clock.nextCron?.name ?? 'there is none'] as const] : []),
    ],
    fields: [step, ...(save === undefined ? [] : [snapshot]), ...nameField(host)],
    verb: 'Move',
    command(values) {
      const move = moveOf(values.step, clock)
      const words = shellCommand(host, move?.words ?? ['clock', 'advance', '…'])
      return saves(values) ? `${shellCommand(host, ['snapshots', 'save', SNAPSHOT, '--force'])} && ${words}` : words
    },
    async send(values) {
      const move = moveOf(values.step, clock)
      if (move === undefined) return { ok: false, problem: nowhere }
      if (saves(values) && save !== undefined) {
        const kept = await save(SNAPSHOT)
        if (!kept.ok) return kept
      }
      return moved(host, move, saves(values))
    },
  }
}

const nowhere = { kind: 'failed', sentence: 'No cron runs by itself.', facts: [], next: ['souk crons list'] } as const

async function moved(host: Host, { body }: Move, isKept: boolean): Promise<Outcome<Told>> {
  const answer = await host.link.call('moveClock', { body, timeoutMs: MOVE_TIMEOUT_MS })
  if (!answer.ok) return answer
  const { now, runs_total: runs } = answer.value
  const back = isKept ? `  → back: ${shellCommand(host, ['snapshots', 'restore', SNAPSHOT])}` : ''
  return { ok: true, value: `${dateTime(Date.parse(now))} now, ${count(runs)} cron runs on the way.${back}` }
}

/** Lets business time stand still, or go on. */
export function freezeDialog(host: Host, { isFrozen }: ClockFacts): DialogSpec {
  return {
    title: isFrozen ? 'LET THE CLOCK GO ON' : 'STOP THE CLOCK',
    facts: () => [
      ...targetFacts(host),
      ['', ''],
      isFrozen
        ? ['What it does', 'business time goes on from where it stands; crons run by their schedule again']
        : ['What it does', 'business time stands: no deadline passes, and no cron falls due, until it goes on'],
    ],
    fields: nameField(host),
    verb: isFrozen ? 'Go on' : 'Stop',
    command: () => shellCommand(host, ['clock', isFrozen ? 'run' : 'freeze']),
    send: () =>
      ask(
        host.link,
        { name: 'moveClock', asked: { body: { state: isFrozen ? 'running' : 'frozen' } } },
        ({ state }) => `The clock is ${state}.`,
      ),
  }
}
