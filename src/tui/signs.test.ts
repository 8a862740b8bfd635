import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { jobStates } from '../nouns/jobs.ts'
import { threadStates } from '../nouns/threads.ts'
import { inAscii } from '../text/text.ts'

/* Signs and colors of states, from every place of the cockpit that paints one. */

const FOLDERS = ['src/tui', 'src/nouns']
const files = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(test|testkit)\.ts$/.test(name))
    .map((name) => join(folder, name)),
)

type Painted = { readonly sign: string; readonly word: string; readonly tone: string; readonly file: string }

/** `good('✓ ok')` in a source, and the states that are put together from a sign and a word. */
const PAINTED = /\b(accent|bad|dim|good|warn)\('([●○‖×✓✗–↩▪!?+→]) ([^']+)'\)/g
const painted: readonly Painted[] = [
  ...files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(PAINTED)].map(([, tone = '', sign = '', word = '']) => ({
      ...{ sign, word: word.trim(), tone, file },
    })),
  ),
  ...[jobStates, threadStates].flatMap((states) =>
    Object.values(states).map(({ text, tone }) => ({
      ...{ sign: text.slice(0, 1), word: text.slice(2), tone, file: 'src/model/state-words.ts' },
    })),
  ),
]

it('no two signs of states look alike in ASCII', () => {
  const signs = [...new Set(['▪', ...painted.map(({ sign }) => sign)])]
  expect(signs.length).toBeGreaterThan(10)
  const alike = Map.groupBy(signs, inAscii)
  // A run that went well is `▪` in a strip of runs and `✓` in words: one meaning, one sign.
  expect([...alike.values()].filter((same) => same.length > 1).map((same) => same.toSorted().join(''))).toEqual(['▪✓'])
})

/** What each sign of the cockpit means. Lines, bars and charts draw heights and joints, and may share characters. */
const meanings: Readonly<Record<string, string>> = {
  ...{ 'goes on': '●', 'not yet': '○', paused: '‖', 'went well': '✓▪', failed: '✗', ended: '×', 'given back': '↩' },
  ...{ chosen: '▌', marked: '◆', onward: '→▸', back: '←', rising: '↑▲', falling: '↓▼', 'look at it': '!≠', asks: '?' },
  ...{ 'text cursor': '▏', 'cut off': '…', 'line break': '↵', apostrophe: '’' },
  'drawn or empty': '–—−·─│═║╔╗╚╝┌┐└┘╭╮╰╯┬┼┴├┤━╸┃┳┣┗┻┛▁▂▃▄▅▆▇█',
}
const meaningOf = new Map(
  Object.entries(meanings).flatMap(([meaning, signs]) => [...signs].map((one) => [one, meaning])),
)

it('every sign that the cockpit draws has one meaning, also in ASCII, where none is unknown', () => {
  const source = (name: string) => readFileSync(name, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '')
  const drawn = [...new Set([...files.map(source).join('')].filter((char) => char > '~'))]
  expect(drawn.length).toBeGreaterThan(40)
  expect(drawn.filter((sign) => !meaningOf.has(sign))).toEqual([])
  const shared = [...Map.groupBy(meaningOf.keys(), inAscii)].flatMap(([plain, signs]) => {
    const all = new Set(signs.map((sign) => meaningOf.get(sign)))
    return all.size > 1 || (plain === '?' && !all.has('asks')) ? [`${plain}: ${[...all].join(', ')}`] : []
  })
  expect(shared).toEqual([])
  // Signs are also written as they are in sources, where no Unicode sign stands for them.
  const marks = files.flatMap((name) =>
    [...source(name).matchAll(/' ?([&*><V]) ?'/g)].map(([, sign]) => `${sign} in ${name}`),
  )
  expect([...new Set(marks)].filter((one) => !/bindings|keys|svg/.test(one))).toEqual(['> in src/tui/frame.ts'])
})

/** Words that mean different states of different things, each with the reason. */
const MANY: Readonly<Record<string, string>> = {
  delivered: 'a message was accepted; a job waits for its buyer, or does not',
  offered: 'a plan is for sale; a bid or a price waits for an answer',
  open: 'a request takes bids; a person may trade',
  blocked: 'a request was refused; the operator blocked a wallet',
  agreed: 'terms or a price',
  withdrawn: 'a withdrawn bid stays withdrawn; a product may be offered again',
  ended: 'a conversation was cancelled; a subscription ran to its end',
  asked: 'a request that asked went well; a conversation waits for its answer',
  'not taken': 'a bid lost',
}

it('a state has one sign and one color everywhere', () => {
  const differing = [...Map.groupBy(painted, ({ word }) => word)].flatMap(([word, all]) => {
    const ways = new Set(all.map(({ sign, tone }) => `${tone} ${sign}`))
    return ways.size === 1 || MANY[word] !== undefined
      ? []
      : [`${word}: ${all.map(({ sign, tone, file }) => `${tone} ${sign} in ${file}`).join(', ')}`]
  })
  expect(painted.length).toBeGreaterThan(80)
  expect(differing).toEqual([])
})

it('a dispute is red wherever it is: in the inbox, in lists, in the feed, in the logs', () => {
  const sources = files.map((file) => readFileSync(file, 'utf8')).join('\n')
  expect(jobStates.disputed.tone).toBe('bad')
  expect(threadStates.disputed.tone).toBe('bad')
  expect(sources).toContain("if (kind === 'dispute') return bad('?')")
  expect(sources).not.toContain("warn('? disputed')")
})
