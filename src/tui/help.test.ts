import { afterEach, describe, expect, it } from 'vitest'
import examples from '../api/answer-examples.json' with { type: 'json' }
import { type ScreenId, screenIds } from '../nouns/screens.ts'
import { type Opened, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'
import { job, jobsOf } from './jobs/jobs.testkit.ts'
import type { Key } from './parts/keys.ts'
import { type Action, bindings, bindingsOn, hintsOn, keysLabel } from './shell/bindings.ts'
import { firstUi, type Ui } from './shell/ui.ts'

// @slow every screen, at every size, with every key

let open: Opened | undefined
afterEach(() => open?.close())

const SETTLED_MS = 1_000
const MANY = 60

/** Lists of many rows, so that there is always somewhere to go. */
function busyMarket() {
  const many = (example: object, ...ids: readonly string[]) =>
    Array.from({ length: MANY }, (_, i) => ({
      ...example,
      ...Object.fromEntries(ids.map((id) => [id, String(Object(example)[id]).replace(/.{2}$/, String(i + 10))])),
    }))
  const page = { total: 2 * MANY, limit: MANY, offset: 0 }
  const { threads } = examples.listAllThreads.answer
  const { participants } = examples.listParticipants.answer
  const { attempts } = examples.listVerifications.answer
  const { postings } = examples.listPostings.answer
  const { services } = examples.listAllServices.answer
  const { holds } = examples.getHolds.answer
  const { requests } = examples.listRequests.answer
  const { acts } = examples.getAdminLog.answer
  return market({
    'GET /dashboard/api/admin/jobs': jobsOf(Array.from({ length: 2 * MANY }, (_, i) => job(i + 1, 'disputed'))),
    'GET /dashboard/api/admin/services': { ...page, services: many(services[0] ?? {}, 'id', 'service_id') },
    'GET /dashboard/api/admin/threads': { ...page, threads: many(threads[0] ?? {}, 'id', 'thread_id') },
    'GET /dashboard/api/admin/participants': { ...page, participants: many(participants[0] ?? {}, 'id') },
    'GET /dashboard/api/admin/verification': { ...page, attempts: many(attempts[0] ?? {}, 'id', 'attempt_id') },
    'GET /dashboard/api/admin/holds': { ...page, holds: many(holds[0] ?? {}, 'account') },
    'GET /dashboard/api/admin/log': { ...page, acts: many(acts[0] ?? {}).map((one, seq) => ({ ...one, seq })) },
    'GET /dashboard/api/admin/requests': { next_cursor: '1', requests: many(requests[0] ?? {}, 'id', 'request_id') },
    'GET /v1/postings': { ...page, next_cursor: null, postings: many(postings[0] ?? {}, 'id', 'posting_id') },
  })
}

const sent: Readonly<Record<string, string>> = {
  up: '\u001B[A',
  down: '\u001B[B',
  right: '\u001B[C',
  left: '\u001B[D',
  pageup: '\u001B[5~',
  pagedown: '\u001B[6~',
  home: '\u001B[H',
  end: '\u001B[F',
  enter: '\r',
  tab: '\t',
  'shift-tab': '\u001B[Z',
  esc: '\u001B',
  space: ' ',
}

/** As a terminal sends it. */
function textOf(key: Key): string {
  if (key.startsWith('ctrl-')) return String.fromCharCode(key.charCodeAt(5) - 0x60)
  return sent[key] ?? key
}

/** Where an act has something to undo or to come back from, that is done first. */
const before: Readonly<Partial<Record<Action, string>>> = { up: 'G', pageUp: 'G', first: 'G', previousPage: '>' }

/** Somewhere in the middle of a day. */
function amid(screen: ScreenId): Ui {
  const other = screen === 'crons' ? 'jobs' : 'crons'
  return { ...firstUi(screen), past: [other], future: [other], chosen: {} }
}

async function on(screen: ScreenId): Promise<Opened> {
  open = await openOn({ link: busyMarket(), screen, columns: 160, rows: 50 })
  await open.advance(SETTLED_MS)
  return open
}

/** All that somebody could notice. */
function seen({ host, text, link, copied, exited }: Opened): string {
  const { dialog, toast, picker, screen, chosen, frozen, typing } = host.ui.get()
  const state = [dialog?.spec.title, toast, picker, screen, chosen, frozen, typing, copied.length, exited()]
  return JSON.stringify([text(), link.calls.length, state])
}

async function startOver(opened: Opened, screen: ScreenId, action: Action): Promise<void> {
  opened.host.queries.freeze(false)
  opened.host.ui.set(amid(screen))
  await opened.until(() => opened.host.face.current.screen === screen)
  await opened.type(before[action] ?? '')
}

/** What these do is to be seen outside of the frame: the end, a shell, and the same picture written once more. */
const elsewhere: readonly Action[] = ['quit', 'quitNow', 'suspend', 'repaint']

it('the key row of requests offers nothing that only the poster may do', () => {
  const keys = hintsOn({ screen: 'requests', readonly: false, admin: true }).left.map(({ key }) => key)
  expect(keys).toContain('v')
  expect(keys).not.toContain('A')
  expect(keys).not.toContain('X')
})

describe.each(screenIds)('on %s', (screen) => {
  it('each key of the help does something', async () => {
    const opened = await on(screen)
    const idle: string[] = []
    const all = bindingsOn({ screen, readonly: false }).filter(({ action }) => !elsewhere.includes(action))
    for (const { action, keys } of all) {
      for (const key of keys) {
        await startOver(opened, screen, action)
        const was = seen(opened)
        await opened.type(textOf(key))
        // To the screen that is in sight already, nobody gets.
        if (action === 'goto' && opened.host.ui.get().screen === screen) continue
        await opened.until(() => seen(opened) !== was).catch(() => idle.push(`${key} (${action})`))
      }
    }
    expect(idle).toEqual([])
  })

  it('a key that is not in the help does nothing', async () => {
    const opened = await on(screen)
    const known = bindingsOn({ screen, readonly: false }).flatMap(({ keys }) => keys)
    const printable = Array.from({ length: 0x7f - 0x21 }, (_, i) => String.fromCharCode(0x21 + i))
    const unknown = printable.filter((key) => !known.includes(key))
    expect(unknown.length).toBeGreaterThan(20)
    const was = opened.host.ui.get()
    await opened.type(unknown.join(''))
    expect(opened.host.ui.get()).toBe(was)
  })

  it('the help shows each of them', async () => {
    const opened = await on(screen)
    await opened.type('?')
    const shown = opened.text().replaceAll(/ +/g, ' ')
    for (const binding of bindingsOn({ screen, readonly: false }))
      expect(shown).toContain(`${keysLabel(binding)} ${binding.label}`)
  })
})

it.each(screenIds)('the help of %s shows each of them in the smallest window too, moved through', async (screen) => {
  open = await openOn({ link: busyMarket(), screen, columns: 60, rows: 18 })
  await open.advance(SETTLED_MS)
  await open.type('?')
  const known = bindingsOn({ screen, readonly: false })
  const unseen = new Set(known.map((binding) => `${keysLabel(binding)} ${binding.label}`))
  for (let step = 0; step < known.length; step += 1) {
    const shown = open.text().replaceAll(/ +/g, ' ')
    for (const one of unseen) if (shown.includes(one)) unseen.delete(one)
    await open.type(textOf('down'))
  }
  expect([...unseen]).toEqual([])
})

it('no act is without a key, and none without a screen', () => {
  for (const { keys, on: places } of bindings) {
    expect(keys.length).toBeGreaterThan(0)
    expect(places?.length ?? 1).toBeGreaterThan(0)
  }
})
