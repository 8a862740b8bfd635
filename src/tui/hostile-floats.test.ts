import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { type Opened, openOn } from './cockpit.testkit.tsx'
import { LEAST_COLUMNS, LEAST_ROWS } from './frame.ts'
import { expectWhole, hostileMarket, type Shown, shown } from './hostile.testkit.ts'
import { screens } from './screens.ts'
import type { CommandLine } from './shell/screen.ts'

/*
 * Every screen, every view of it, every part of what lies beside it, and all that can float over it: whatever strangers
 * call themselves, nothing runs over, nothing is cut that must be whole, and nothing reaches the terminal.
 */

let open: Opened | undefined
afterEach(() => {
  open?.close()
  open = undefined
})

// @deep every screen with everything that can float over it, drawn whole again and again

const RUNS = 4
const STEPS_MAX = 7
/** Picker, palette, filter, message and each change, by the keys that open them. */
const floats = ['?', '?job', ':', ':jobs ', ':@', 'w', 'x', '/n', 'P', 'U', ...'RDWTAXBEZOiu'] as const
const RIGHT = '\u001B[C'

const commandLine: CommandLine = {
  commands: [{ name: 'jobs list', summary: 'lists' }],
  split: (line) => line.split(' '),
  complete: async () => [
    { value: 'n日本語', summary: '\u202E🇩🇪'.repeat(40) },
    { value: '\u001B[2J', summary: 'clears' },
  ],
  run: async () => ({ ok: true, value: 'done' }),
}

/** Titles of what was opened. */
const dialogs = new Set<string>()

async function eachFloat(one: Opened, sizes: readonly Shown[]): Promise<void> {
  const before = one.host.ui.get()
  for (const keys of floats) {
    await one.type(keys)
    const { dialog, picker, typing, toast } = one.host.ui.get()
    if (dialog) dialogs.add(dialog.spec.title)
    if (dialog ?? picker ?? toast ?? (typing || undefined)) await inSizes(one, sizes)
    // In the last field, and where it may be sent.
    for (let fields = dialog?.spec.fields.length ?? 0; fields > 0; fields -= 1) await one.type('1\r')
    if (dialog) await inSizes(one, sizes)
    one.host.ui.set(before)
    await one.resize(WIDE.columns, WIDE.rows)
  }
}

async function inSizes(one: Opened, sizes: readonly Shown[]): Promise<void> {
  for (const { columns, rows } of sizes) {
    await one.resize(columns, rows)
    expectWhole(one, { columns, rows })
  }
}

/** In a list one row is chosen, whatever names begin with. */
function expectOneCursor({ host, rows }: Opened, { columns, rows: height }: Shown): void {
  const isList = host.face.current.ids.length > 0 && host.ui.get().pane.open === 'beside'
  if (!isList || columns < LEAST_COLUMNS || height < LEAST_ROWS) return
  expect(rows().filter((row) => row.startsWith('▌'))).toHaveLength(1)
}

/** Goes on with a key for as long as there is something new to see. */
async function walk(one: Opened, key: string, visit: () => Promise<void>): Promise<void> {
  const seen = new Set<string>()
  // Ages go on by themselves.
  const sight = () => one.rows().slice(1).join('\n').replaceAll(/\d+/g, '')
  for (let step = 0; step < STEPS_MAX && !seen.has(sight()); step += 1) {
    seen.add(sight())
    const before = one.host.ui.get()
    await visit()
    one.host.ui.set(before)
    await one.resize(WIDE.columns, WIDE.rows)
    await one.type(key)
    await one.advance(1_000)
  }
}

const WIDE = { columns: 160, rows: 50 } as const

describe('whatever floats over it keeps width, money and ids', () => {
  it.each(screens.map(({ id }) => id))('%s', async (screen) => {
    await fc.assert(
      fc.asyncProperty(shown, shown, async (by, other) => {
        open = await openOn({ link: hostileMarket(by), screen, commandLine, ...WIDE })
        const one = open
        await one.advance(1_000)
        const sizes = [by, other]
        await walk(one, 'v', async () => {
          await one.type('\r')
          await walk(one, RIGHT, async () => {
            await inSizes(one, sizes)
            expectOneCursor(one, other)
            await one.resize(WIDE.columns, WIDE.rows)
            await eachFloat(one, sizes)
          })
        })
        one.close()
      }),
      { numRuns: RUNS, endOnFailure: true },
    )
  })

  it('dialogs among them', () => expect(dialogs.size).toBeGreaterThanOrEqual(10))
})
