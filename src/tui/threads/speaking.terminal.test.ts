import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { splitWords } from '../../cli/split-words.ts'
import { widthOf } from '../../text/text.ts'
import { type Terminal, tmuxVersion } from '../tmux.testkit.ts'
import { ask, closeMarket, json, openMarket, SIZES, souk, terminalOf } from '../walk.testkit.ts'

// @slow two people talk in two terminals

/* Somebody speaks in a real terminal: what is said there, and what the command that is shown says, is the same. */

const tmux = await tmuxVersion()

beforeAll(() => (tmux === undefined ? undefined : openMarket(process.env.PATH)))
afterAll(() => (tmux === undefined ? undefined : closeMarket()))

/** Where the whole command is on one row. */
const roomy = SIZES.filter(([columns]) => columns > 60)

/** An inquiry of acme with lingua, made by the command line. */
async function inquiry(): Promise<string> {
  const { services } = await json('services', 'list', '--search', 'French translation')
  const { thread_id: id } = await json(
    '--as',
    'acme',
    'services',
    'inquire',
    services[0].id,
    '--message',
    'How long does it take?',
  )
  return id
}

/** A cockpit in front of a conversation of acme. */
async function conversation(columns: (typeof SIZES)[number][0], id: string) {
  const terminal = terminalOf(columns)
  await terminal.type('4')
  await terminal.see('─ Threads')
  await terminal.type(':as acme')
  await terminal.press('Enter')
  await terminal.see(/[Yy]ou write as acme/)
  await terminal.type(`/${id}`)
  await terminal.press('Enter')
  await terminal.see('1 of 1')
  await terminal.see(new RegExp(`─ ${id} ─`))
  return terminal
}

/** The list without a filter: what stands over it goes first. */
async function all(terminal: Terminal): Promise<void> {
  const shown = async () => {
    await terminal.press('Escape')
    return (await terminal.rows()).join('\n')
  }
  await expect.poll(shown, { interval: 300 }).not.toContain('1 of 1')
}

describe.skipIf(tmux === undefined).each(roomy)('in a terminal of %i x %i', (columns) => {
  it('u attaches a file for the wallet that :as chose, as the command does', async () => {
    const id = await inquiry()
    // One of the folder that everybody here is in: with a longer name the command would not fit.
    const file = 'README.md'
    const terminal = await conversation(columns, id)
    await terminal.type('u')
    await terminal.type(file)
    await terminal.press('Enter')
    await terminal.press('Enter')
    const shown = await terminal.see(`same as  souk threads attach ${id} ${file} --as acme`)
    for (const row of shown) expect(widthOf(row)).toBeLessThanOrEqual(columns)
    const [, line = ''] = /same as {2}souk (.*?)\s*$/m.exec(shown.join('\n')) ?? []
    await terminal.type('y')
    await terminal.see(/attached file_[0-9a-f]{16}/)
    await souk(...splitWords(line), '--yes')
    const { messages = [] } = await ask('readAnyThread', { id })
    const files = messages.filter(({ file_id }) => file_id !== undefined)
    expect(files.map(({ author_role, body }) => [author_role, body])).toEqual([
      ['buyer', file],
      ['buyer', file],
    ])
    await terminal.type('i')
    await terminal.see('WRITE A MESSAGE')
    await terminal.type('And in blue?')
    await terminal.press('Enter')
    await terminal.type('y')
    await terminal.miss('WRITE A MESSAGE')
    await terminal.see('And in blue?')
    expect((await ask('readAnyThread', { id })).messages?.at(-1)).toMatchObject({
      author_role: 'buyer',
      body: 'And in blue?',
    })
    await terminal.press('Escape')
    await terminal.type(':as')
    await terminal.press('Enter')
    await terminal.see('You write as before')
    await all(terminal)
  })

  it('A pays the price that the dialog shows, and never one that came after it', async () => {
    const id = await inquiry()
    const propose = (price: string) => json('--as', 'lingua', 'threads', 'propose', id, '--price', price)
    await propose('4.00')
    const terminal = await conversation(columns, id)
    await terminal.see('accept, pay $4.20')
    await terminal.type('A')
    await terminal.see('Pay $4.20')
    await propose('6.00')
    await terminal.type('y')
    await terminal.see(/The offer has changed/)
    expect((await ask('readAnyThread', { id })).status).toBe('negotiating')
    await terminal.press('Escape')
    await terminal.miss('ACCEPT A PRICE')
    await terminal.see('accept, pay $6.30')
    await terminal.type('A')
    await terminal.see('Pay $6.30')
    await terminal.type('y')
    await terminal.see(/paid \$6\.30|accepted/)
    const { status, job_id } = await ask('readAnyThread', { id })
    const { amount } = await json('--as', 'acme', 'jobs', 'view', `${job_id}`)
    expect([status, amount]).toEqual(['accepted', '6.30'])
  })
})
