import { afterEach, describe, expect, it } from 'vitest'
import examples from '../../api/answer-examples.json' with { type: 'json' }
import { splitWords } from '../../cli/split-words.ts'
import { type Opened, type OpenOptions, openOn } from '../cockpit.testkit.tsx'
import { market } from '../fixtures.testkit.ts'
import { rebind } from '../rebind.ts'
import type { CommandLine } from '../shell/screen.ts'

let open: Opened | undefined
const ran: (readonly string[])[] = []

afterEach(() => {
  open?.close()
  open = undefined
  ran.length = 0
})

const commandLine: CommandLine = {
  commands: [],
  split: (line) => (line.trim() === '' ? [] : splitWords(line)),
  complete: async () => [],
  async run(words) {
    ran.push(words)
    return { ok: true, value: 'done as told' }
  },
}

const [known] = examples.listAllThreads.answer.threads
const BUYER = 'p_00000000000000b1'
const PROVIDER = 'p_00000000000000a1'
const ID = 'thr_0000000000000001'
const proposal = {
  price: '8.00',
  agent_price: '8.40',
  provider_net_price: '8.00',
  message: 'two days',
  estimated_delivery: 'in 2 days',
  status: 'open',
  proposed_at: '2026-11-21T13:00:00.000Z',
  expires_at: '2026-11-22T13:00:00.000Z',
}
/** What binds the command to the price that the dialog shows. */
const SHOWN = `--proposal ${proposal.proposed_at} --max-price ${proposal.agent_price}`
const thread = {
  ...known,
  ...{ id: ID, thread_id: ID, status: 'negotiating', proposal, agent_id: BUYER, provider_id: PROVIDER },
  about: { service: 'Copy writing', buyer: 'Acme Corp', provider: 'Inkwell', amount: '8.40', method: null },
}
const LIST = 'GET /dashboard/api/admin/threads'

async function talk(options: Partial<OpenOptions> = {}): Promise<Opened> {
  const link = market({
    [LIST]: { threads: [thread], total: 1, limit: 50, offset: 0 },
    [`${LIST}/${ID}`]: { ...thread, messages: [] },
    [`GET /v1/participants/${PROVIDER}`]: { first_party: false },
  })
  link.wallets.set('acme', BUYER)
  link.wallets.set('inkwell', PROVIDER)
  link.wallets.set('quill', 'p_00000000000000c1')
  open = await openOn({ link, screen: 'threads', columns: 160, rows: 36, commandLine, ...options })
  await open.advance(1_000)
  return open
}

const as = (name: string) => `:as ${name}\r`

describe('whoever speaks', () => {
  it('is named by :as, from any screen, and stands under list and conversation', async () => {
    const { type, text, until, advance } = await talk({ screen: 'crons' })
    await type(as('acme'))
    await until(() => text().includes('You write as acme'))
    await advance(6_000)
    expect(text()).toContain(' you write as acme   :as ends it')
    expect(text()).toMatch(/│ as acme {3}A accept, pay \$8\.40 {3}X decline {3}i write {3}u attach/)
    expect(text()).toContain(`same as  souk threads accept ${ID} --max-price 8.40 --as acme`)
    await type(':as\r')
    await until(() => text().includes('You write as before'))
    await advance(6_000)
    expect(text()).toContain('Read-only as administrator')
  })

  it('is told over the last row only until the next key', async () => {
    const { type, text, until } = await talk()
    await type(as('acme'))
    await until(() => text().includes('You write as acme'))
    expect(text()).not.toContain(' you write as acme   :as ends it')
    await type('j')
    expect(text()).toContain(' you write as acme   :as ends it')
    expect(text()).not.toContain('You write as acme')
  })

  it('is told the whole command where another may speak, in as many rows as it takes', async () => {
    const { type, text, until } = await talk({ columns: 60, rows: 24 })
    await type(as('quill'))
    await until(() => text().includes('You write as quill'))
    await type('i')
    expect(text().replaceAll(/\s+/g, ' ')).toContain(`can write here, not quill. → souk threads send ${ID}`)
  })

  it('is a wallet of this machine: of another it is said that there is none, and nobody is made', async () => {
    const { type, text, until, host } = await talk()
    await type(as('stranger'))
    await until(() => text().includes('✗ There is no active wallet.'))
    expect(host.ui.get().speaker).toBeUndefined()
    expect(ran).toEqual([])
  })

  it.each([
    ['acme', 'A', '', `threads accept ${ID} ${SHOWN} --as acme`, 'ACCEPT A PRICE'],
    ['acme', 'X', '', `threads decline ${ID} --as acme`, 'END A CONVERSATION'],
    ['acme', 'i', "it's fine\r", `threads send ${ID} "it's fine" --as acme`, 'WRITE A MESSAGE'],
    ['inkwell', 'i', 'done\r', `threads send ${ID} done --as inkwell`, 'WRITE A MESSAGE'],
    ['inkwell', 'O', '9.00\r\r', `threads propose ${ID} --price 9.00 --as inkwell`, 'OFFER A PRICE'],
    ['acme', 'u', 'brief one.pdf\r\r', `threads attach ${ID} 'brief one.pdf' --as acme`, 'ATTACH A FILE'],
  ])('%s by %s does what the command that is shown does', async (...[name, key, typed, command, title]) => {
    const { type, text, until, link } = await talk()
    await type(as(name))
    await until(() => text().includes(`You write as ${name}`))
    await type(key)
    expect(text()).toContain(title)
    expect(text()).toMatch(new RegExp(`as +${name}`))
    await type(typed)
    const [, shown = ''] = /same as {2}souk (.*?)\s*$/m.exec(text()) ?? []
    expect(splitWords(shown)).toEqual(splitWords(command))
    expect(ran).toEqual([])
    await type('y')
    await until(() => text().includes('done as told'))
    expect(ran).toEqual([[...splitWords(command), '--yes', '--no-input']])
    expect(link.calls.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it.each([
    ['quill', 'i', 'Only Inkwell and Acme Corp can write here, not quill.'],
    ['quill', 'u', 'Only Acme Corp and Inkwell can attach files here.'],
    ['quill', 'A', 'Only Acme Corp can accept a price here.'],
    ['inkwell', 'A', 'Only Acme Corp can accept a price here.'],
    ['acme', 'O', 'Only Inkwell can offer a price.'],
    ['quill', 'X', 'Only the two parties can end a conversation.'],
  ])('%s is told by %s what it may not', async (...[name, key, words]) => {
    const { type, text, until } = await talk()
    await type(as(name))
    await until(() => text().includes(`You write as ${name}`))
    await type(key)
    expect(text()).toContain(words)
  })
})

describe('u', () => {
  it('data of the administrator says who attaches files there, and how to be it', async () => {
    const { type, text } = await talk()
    await type('u')
    expect(text()).toContain('Only Acme Corp and Inkwell can attach files here.  → :as NAME writes as one of them')
  })

  it('attaches as the wallet in use where that is a party, by the very command', async () => {
    const { type, text, until, link } = await talk()
    link.me = BUYER
    await open?.advance(11_000)
    await type('u')
    expect(text()).toContain('Attach – needs a path')
    await type('brief.pdf\rAs agreed\r')
    expect(text()).toContain(`same as  souk threads attach ${ID} brief.pdf --message 'As agreed'`)
    await type('y')
    await until(() => text().includes('done as told'))
    expect(ran).toEqual([['threads', 'attach', ID, 'brief.pdf', '--message', 'As agreed', '--yes', '--no-input']])
  })

  it('on a remote confirms it by its name', async () => {
    const link = market({ [LIST]: { threads: [thread], total: 1, limit: 50, offset: 0 } })
    const opened = await talk({ link: { ...link, place: { name: 'shop', guarded: true, option: '-r shop' } } })
    opened.host.ui.set({ ...opened.host.ui.get(), speaker: { wallet: 'acme', id: BUYER } })
    await opened.until(() => opened.text().includes('as acme'))
    await opened.type('ubrief.pdf\r\rshop\ry')
    await opened.until(() => ran.length > 0)
    expect(ran[0]?.join(' ')).toBe(`-r shop threads attach ${ID} brief.pdf --as acme --yes --confirm shop --no-input`)
  })

  it('may lie on another key, where help and key row show it', async () => {
    const { keys, faults } = rebind([{ act: 'attach', keys: 'F', line: 2 }])
    expect(faults).toEqual([])
    const { type, text } = await talk({ keys })
    expect(text()).toMatch(/as Acme Corp +A accept, pay \$8\.40 +X decline +i write +F attach/)
    await type('u')
    expect(text()).not.toContain('attach files here')
    await type('F')
    expect(text()).toContain('attach files here')
    await type('\u001B?')
    expect(text()).toMatch(/F +attach a file/)
  })

  it('is not there in a read-only cockpit, which speaks for nobody', async () => {
    const { type, text, until } = await talk({ readonly: true })
    await type('u')
    expect(text()).not.toContain('attach files here')
    await type('?')
    expect(text()).not.toContain('attach a file')
    await type('?')
    await type(as('acme'))
    await until(() => text().includes('This cockpit is read-only: it cannot write messages.'))
    expect(open?.host.ui.get().speaker).toBeUndefined()
  })
})
