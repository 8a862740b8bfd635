import { closedByPause, doorCount, pausingDoors } from '../../client/pausing.ts'
import { count, span } from '../../text/text.ts'
import { zonedTime } from '../../text/time.ts'
import { shellCommand } from './ask.ts'
import { type DialogSpec, reasonField } from './dialog.ts'
import type { HealthFacts } from './health.ts'
import { ask } from './queries.ts'
import type { Host } from './screen.ts'

const reason = reasonField('Reason (shown in the pause state and the audit log)')

export function pauseDialog(host: Host): DialogSpec {
  return host.health()?.paused ? unpause(host) : pause(host)
}

function pause(host: Host): DialogSpec {
  const caught = caughtBy(host)
  return {
    title: 'PAUSE THE PLATFORM',
    facts: () => [
      ['What stops now', `${paidLive(host.health())} that take money return 503`],
      ['What goes on', 'reads, logins, wallets, exports, refunds, escrow timeouts'],
      ['In progress', `${caught.payments()} settle first`],
      ['Money', caught.money()],
    ],
    fields: [reason],
    verb: 'Pause',
    command: ({ reason: why }) => shellCommand(host, ['admin', 'platform', 'pause', '--reason', why || '…']),
    send: ({ reason: why = '' }) => {
      const asked = { body: why.trim() === '' ? {} : { reason: why.trim() } }
      return ask(host.link, { name: 'pausePlatform', asked }, ({ changed }) =>
        changed ? 'The platform is paused.' : 'The platform was already paused.',
      )
    },
  }
}

/** What is in progress when the pause begins. The texts have no numbers until the instance has counted. */
function caughtBy(host: Host) {
  const known: { payments?: number; balances?: number; held?: string; jobs?: number; payouts?: number } = {}
  const shown = () => host.ui.set({ ...host.ui.get() })
  const one = { limit: '1' }
  const put = (found: Partial<typeof known>) => {
    Object.assign(known, found)
    shown()
  }
  void ask(host.link, { name: 'getHolds', asked: { query: { ...one, kind: 'hold' } } }, ({ total }) => total).then(
    (answer) => answer.ok && put({ balances: answer.value }),
  )
  void ask(host.link, { name: 'getHolds', asked: { query: { ...one, kind: 'out' } } }, ({ total }) => total).then(
    (answer) => answer.ok && put({ payouts: answer.value }),
  )
  void ask(host.link, { name: 'getRiver', asked: {} }, ({ held, held_jobs: jobs, in_flight: payments }) => {
    return { held, jobs, payments }
  }).then((answer) => answer.ok && put(answer.value))
  return {
    payments: () => paymentWords(known),
    money: () => {
      const { held, jobs, payouts } = known
      const stays =
        held === undefined || jobs === undefined
          ? 'held money stays held'
          : `$${held} of ${many(jobs, 'job', 'jobs')} stays held`
      return payouts === undefined
        ? stays
        : `${stays}, ${many(payouts, 'payout waits', 'payouts wait')} until you resume`
    },
  }
}

/** The payments in progress, in words. */
function paymentWords({ payments, balances }: { payments?: number; balances?: number }): string {
  if (payments === undefined) return 'payments already reserved'
  const some = balances === undefined || balances === 0 ? '' : `, ${count(balances)} from balances,`
  return `${many(payments, 'payment', 'payments')}${some}`
}

function many(number: number, one: string, more: string): string {
  return `${count(number)} ${number === 1 ? one : more}`
}

function unpause(host: Host): DialogSpec {
  return {
    title: 'UNPAUSE THE PLATFORM',
    facts: () => [
      ['Paused', pausedFor(host)],
      ['Why', host.pauseReason() || 'unknown'],
      ['What starts again', `all paid endpoints  (${paidPaused(host.health())})`],
    ],
    verb: 'Unpause',
    command: () => shellCommand(host, ['admin', 'platform', 'unpause']),
    send: () =>
      ask(host.link, { name: 'unpausePlatform', asked: { body: {} } }, ({ changed }) =>
        changed ? 'The platform is live again.' : 'The platform was already live.',
      ),
  }
}

function paidLive(health: HealthFacts | undefined): string {
  return health === undefined ? 'not counted' : closedByPause(health.endpoints)
}

function paidPaused(health: HealthFacts | undefined): string {
  return health === undefined
    ? 'not counted'
    : doorCount(pausingDoors(health.endpoints).filter(({ status }) => status === 'paused').length)
}

function pausedFor(host: Host): string {
  const at = host.health()?.pausedAt
  return at === undefined ? 'for an unknown time' : `since ${zonedTime(at)}, ${span(host.clock.now() - at)} ago`
}
