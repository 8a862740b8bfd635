import { afterEach, describe, expect, it } from 'vitest'
import examples from '../api/answer-examples.json' with { type: 'json' }
import { splitWords } from '../cli/split-words.ts'
import { type Opened, type OpenOptions, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'
import { job, jobId, jobsOf } from './jobs/jobs.testkit.ts'
import { listing } from './services/services.testkit.ts'

/* Keys that lead from what is chosen to something else: to its job, to its purchase, to the next hit. */

let open: Opened | undefined
afterEach(() => open?.close())

const ran: string[][] = []
const commands = ['services buy', 'services inquire', 'compliance screen', 'api'].map((name) => ({
  name,
  summary: name,
}))
const commandLine = {
  commands,
  split: splitWords,
  complete: async () => [],
  run: async (words: readonly string[]) => {
    ran.push([...words])
    return { ok: true, value: 'done as told' } as const
  },
}

async function on(options: Omit<OpenOptions, 'link'>, answers: Parameters<typeof market>[0] = {}): Promise<Opened> {
  ran.length = 0
  open = await openOn({ link: market(answers), columns: 160, rows: 40, commandLine, ...options })
  await open.advance(1_000)
  return open
}

const [known] = examples.listAllServices.answer.services
const one = listing(1)
const offered = (change: Parameters<typeof listing>[1]) => ({
  'GET /dashboard/api/admin/services': {
    services: [{ ...listing(1, change), selling: known?.selling }],
    ...{ total: 1, limit: 50, offset: 0 },
  },
})
const priced = offered({ agent_price: { fixed: '$2.10' }, price: { fixed: '$2.00' } })

describe('B begins a purchase', () => {
  it('for no more than the price in sight, and runs nothing before a yes', async () => {
    const { type, text, until } = await on({ screen: 'services' }, priced)
    await type('B')
    const line = `services buy ${one.id} --max-price 2.10 -i `
    expect(text()).toContain(`:${line}`)
    await type('text=hello\r')
    expect(text()).toContain(`souk ${line}text=hello --yes`)
    expect(ran).toEqual([])
    await type('y')
    await until(() => ran.length === 1)
    expect(ran).toEqual([[...splitWords(line), 'text=hello', '--yes', '--no-input']])
  })

  it('by who speaks', async () => {
    const { type, text, host } = await on({ screen: 'services' }, priced)
    host.ui.set({ ...host.ui.get(), speaker: { wallet: 'acme', id: 'p_00000000000000b1' } })
    await type('B')
    expect(text()).toContain(`:services buy ${one.id} --as acme --max-price 2.10 -i `)
  })

  it('but not of what has no price yet', async () => {
    const { type, text } = await on(
      { screen: 'services' },
      offered({ agent_price: { fixed: null }, price: { fixed: null } }),
    )
    await type('B')
    expect(text()).toContain(`✗ Ask for its price first.  → souk services inquire ${one.id}`)
  })
})

describe('b leads to the job', () => {
  const jobs = { 'GET /dashboard/api/admin/jobs': jobsOf([job(1, 'disputed'), job(2, 'disputed')]) }
  const [hold] = examples.getHolds.answer.holds
  const holds = (account: string) => ({
    'GET /dashboard/api/admin/holds': {
      holds: [{ ...hold, account, job_id: account.split(':')[1] }],
      total: 1,
      limit: 50,
      offset: 0,
    },
  })

  it('of what is held, whatever was in sight there before', async () => {
    const { type, host, text, advance } = await on({ screen: 'money' }, { ...jobs, ...holds(`esc:${jobId(2)}`) })
    await type('b')
    await advance(1_000)
    const { screen, jobView, filters, chosen } = host.ui.get()
    expect([screen, jobView, filters.jobs, chosen.jobs]).toEqual(['jobs', 'all', `id:${jobId(2)}`, jobId(2)])
    expect(text()).toContain(jobId(2))
    await type('[')
    expect(host.ui.get().screen).toBe('money')
  })

  it('that a request made', async () => {
    const [asked] = examples.listRequests.answer.requests
    const path = '/v1/services/svc_0123456789abcdef/purchase'
    const requests = [{ ...asked, method: 'POST', path, endpoint: 'purchaseService', job_id: jobId(1) }]
    const { type, host, advance } = await on(
      { screen: 'logs' },
      { ...jobs, 'GET /dashboard/api/admin/requests': { ...examples.listRequests.answer, requests } },
    )
    await advance(1_000)
    await type('b')
    expect([host.ui.get().screen, host.ui.get().chosen.jobs]).toEqual(['jobs', jobId(1)])
  })

  it('where there is one', async () => {
    const { type, text, host } = await on({ screen: 'threads' })
    await type('b')
    expect([text().includes('✗ The selection has no job.'), host.ui.get().screen]).toEqual([true, 'threads'])
  })
})

describe('n and N walk what a filter has found', () => {
  const three = { 'GET /dashboard/api/admin/jobs': jobsOf([1, 2, 3].map((n) => job(n, 'disputed'))) }

  it('round and round', async () => {
    const { type, host, advance } = await on({ screen: 'jobs' }, three)
    await type('/disputed\r')
    await advance(1_000)
    const walked: (string | undefined)[] = []
    for (const key of ['n', 'n', 'n', 'N', 'N']) {
      await type(key)
      walked.push(host.ui.get().chosen.jobs)
    }
    expect(walked).toEqual([2, 3, 1, 3, 2].map(jobId))
  })

  it('and say so where nothing is looked for', async () => {
    const { type, text, host } = await on({ screen: 'jobs' }, three)
    await type('n')
    expect([text().includes('✗ There is no filter: type / to set one.'), host.ui.get().chosen.jobs]).toEqual([
      true,
      undefined,
    ])
  })
})

it('enter on a row of Endpoints leads to its requests, and v on Compliance to people', async () => {
  const [asked] = examples.listRequests.answer.requests
  const requests = [
    {
      ...asked,
      id: 'req_0000000000000001',
      method: 'POST',
      path: `/v1/services/${one.id}/purchase`,
      endpoint: 'purchaseService',
    },
    { ...asked, id: 'req_0000000000000002', method: 'GET', path: `/v1/services/${one.id}`, endpoint: 'getService' },
  ]
  const link = { 'GET /dashboard/api/admin/requests': { ...examples.listRequests.answer, requests } }
  const { type, host, text, advance } = await on({ screen: 'endpoints' }, link)
  await type('/purchase\r')
  await advance(500)
  expect(text()).toContain('POST /v1/services/:id/purchase')
  await type('\r')
  await advance(2_000)
  const { screen, logs, filters } = host.ui.get()
  expect([screen, logs.view, filters.logs]).toEqual([
    'logs',
    'requests',
    'method:POST path:/v1/services/ path:/purchase',
  ])
  expect(host.face.current.ids).toEqual(['req_0000000000000001'])
  await type('8v')
  expect(host.ui.get().screen).toBe('people')
})

describe('o begins a look', () => {
  it.each([
    ['compliance', 'compliance screen '],
    ['endpoints', 'api /v1/'],
  ] as const)('on %s by the command line, and a cockpit for reading only tells it', async (screen, words) => {
    const { type, text } = await on({ screen })
    await type('o')
    expect(text()).toContain(`:${words}`)
    await open?.close()
    const reading = await on({ screen, readonly: true })
    await reading.type('o')
    expect(reading.text()).toContain(`This cockpit is read-only: it runs no command.  → souk ${words.trim()}`)
  })
})

it('@ names other marketplaces, and leads to the one that is picked', async () => {
  const went: string[] = []
  const elsewhere = {
    names: () => ['local', 'prod-eu', 'prod-us'],
    link: () => market(),
    go: (name: string) => void went.push(name),
  }
  const { type, text } = await on({ elsewhere })
  await type('@prod')
  expect(text()).toContain('@prod-eu')
  expect(text()).not.toContain('@local')
  await type('-u\r')
  expect(went).toEqual(['prod-us'])
})
