import { afterEach, describe, expect, it } from 'vitest'
import examples from '../../api/answer-examples.json' with { type: 'json' }
import { NOW, type Opened, type OpenOptions, openOn } from '../cockpit.testkit.tsx'
import { market } from '../fixtures.testkit.ts'
import { job, jobsOf } from '../jobs/jobs.testkit.ts'

const ADMIN = '/dashboard/api/admin'
const ENTER = '\r'
const TAB = '\t'

let open: Opened | undefined
afterEach(() => {
  open?.close()
  open = undefined
})

const [example] = examples.listParticipants.answer.participants
if (example === undefined) throw new Error('the example has no participant')
const acme = {
  ...example,
  name: 'Acme\u001B[2J',
  suspended_at: new Date(NOW - 60_000).toISOString(),
  balance: { available: '123.82', held: '2.00' },
}
const [request] = examples.listRequests.answer.requests
const [act] = examples.getAdminLog.answer.acts
const refused = { ...request, id: 'req_0000000000000001', status: 403, code: 'terms_required', caller: acme.id }

function trade() {
  const all = [job(1, 'disputed'), job(2, 'released'), job(3, 'refunded')]
  return market({
    [`GET ${ADMIN}/jobs`]: jobsOf(
      all.map((one) => ({ ...one, buyer: { ...one.buyer, participant_id: acme.id } }) as typeof one),
    ),
    [`GET ${ADMIN}/participants`]: { participants: [acme], total: 1 },
    [`GET ${ADMIN}/threads`]: { ...examples.listAllThreads.answer, threads: [], total: 3 },
    [`GET ${ADMIN}/requests`]: { requests: [refused], next_cursor: '1' },
    [`GET ${ADMIN}/log`]: {
      ...examples.getAdminLog.answer,
      acts: [{ ...act, act: 'participant.set', reason: 'sells stolen goods', detail: { suspended: true } }],
    },
    [`PUT ${ADMIN}/participants/${acme.id}`]: { ...examples.setParticipant.answer, suspended_at: null },
  })
}

async function cockpit(options: Partial<OpenOptions>) {
  const opened = await openOn({ link: trade(), columns: 100, rows: 30, ...options })
  open = opened
  await opened.advance(1_000)
  /** Types and waits for what it shows. */
  const see = async (keys: string, shown: string) => {
    await opened.type(keys)
    await opened.advance(1_000)
    await opened.until(() => opened.text().includes(shown))
  }
  return { ...opened, see }
}

describe("a person's card", () => {
  it.each([
    ['a job', 'jobs', 'p'],
    ['People', 'people', ENTER],
  ] as const)('opens from %s and has what the operator knows', async (_, screen, key) => {
    const { see, text } = await cockpit({ screen })
    await see(key, '$123.82, $2.00 held')
    expect(text()).toContain('╭─ Acme\uFFFD[2J')
    expect(text()).toMatch(/bought +1 of 3 jobs disputed, 1 refunded/)
    expect(text()).toMatch(/sold +\$0\.50 paid, 1 of 3 jobs/)
    expect(text()).toMatch(/threads +3 /)
    expect(text()).toMatch(/refused .*403 terms_required/)
    expect(text()).toMatch(/state +suspended since .*\n.*/)
    expect(text()).toMatch(/because +sells stolen goods/)
  })

  it('asks few things, whatever the person did', async () => {
    const { see, link } = await cockpit({ screen: 'people' })
    const before = link.calls.length
    await see(ENTER, '$123.82')
    const asked = link.calls.slice(before).filter(({ query }) => query?.limit !== undefined && query.limit !== '50')
    expect(asked.map(({ path }) => path.replace(`${ADMIN}/`, '')).toSorted()).toEqual(
      expect.arrayContaining(['jobs', 'jobs', 'log', 'participants', 'requests', 'threads']),
    )
    expect(asked.length).toBeLessThanOrEqual(8)
  })

  it('leads on by enter, to the other party by tab, and asks before a change', async () => {
    const { see, type, text, host, link } = await cockpit({ screen: 'jobs' })
    await see('p', ', buyer ─')
    await see(TAB, ', provider ─')
    await see('thread', 'threads')
    await type(ENTER)
    expect(host.ui.get()).toMatchObject({ screen: 'threads', threadView: 'all' })
    await type('3')
    await see('p', '$123.82')
    await type('Z')
    expect(text()).toContain('LIFT A SUSPENSION')
    expect(link.calls.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it('has no changes in a read-only cockpit', async () => {
    const { see, text } = await cockpit({ screen: 'jobs', readonly: true })
    await see('p', '$123.82')
    expect(text()).not.toContain('lift the suspension')
  })
})

describe('the palette', () => {
  const commandLine = {
    commands: [{ name: 'why', summary: 'tells why' }],
    split: (line: string) => line.split(' '),
    complete: async () => [],
    run: async (words: readonly string[]) => ({ ok: true as const, value: `story of ${words.join(' ')}` }),
  }

  it('offers the person, the jobs and the threads of a name, with counts', async () => {
    const { see, text, type, host } = await cockpit({ commandLine })
    await see(':proof', 'person: ')
    expect(text()).toMatch(/3 jobs +of proof/)
    expect(text()).toMatch(/3 threads +of proof/)
    await type(ENTER)
    await open?.until(() => host.ui.get().picker?.kind === 'card')
  })

  it('opens the card of a wallet, and tells the story of a receipt', async () => {
    const { see, type, host } = await cockpit({ commandLine })
    await see(`:${acme.wallet}`, 'the person')
    await see(ENTER, '$123.82')
    await type('\u001B')
    await open?.until(() => host.ui.get().picker === undefined)
    await see(':rcp_0000000000000001', 'tells why')
    await see(ENTER, 'story of why rcp_0000000000000001')
  })
})
