import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { buyFrom } from '../../../../fixtures/kit/buy-from.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { sentencesOf, wordsOf } from '../service/english.ts'
import { summarization } from './summarization.ts'
import { summarize } from './summary.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

const buy = buyFrom(summarization, () => site.web())

/** Bees and their honey, with sentences that lead away from them. */
const bees = `Honey bees live in colonies that may hold fifty thousand workers and one queen. The queen lays every egg
of the colony, up to two thousand in a day. My neighbour bought a red car last week. Worker bees collect nectar from
flowers and carry it back to the hive in a honey stomach. In the hive, other workers pass the nectar from mouth to mouth
until most of its water is gone. The thickened nectar is stored in wax cells and becomes honey. It rained on Tuesday.
A colony makes two to three times more honey than it needs for the winter. Beekeepers take that surplus honey and leave
the rest to the bees. Without bees, many flowers and fruit trees would not be pollinated. Dr. Karl von Frisch showed
that bees tell each other by a dance where flowers are. Farmers therefore pay beekeepers to place hives near their
orchards. Somebody left an umbrella on the bus. The health of bee colonies is threatened by mites, pesticides and the
loss of flowers.`
const stray = ['My neighbour bought a red car', 'It rained on Tuesday', 'Somebody left an umbrella']

describe('a summary', () => {
  it.each<[string, number, number]>([
    ['brief', 2, 60],
    ['standard', 5, 150],
    ['detailed', 12, 360],
  ])('%s keeps at most %i sentences and %i words, the text’s own, in order', async (max_length, sentences, words) => {
    const made = await buy({ text: bees, max_length })
    const kept = sentencesOf(made.summary)
    expect(kept.length).toBeLessThanOrEqual(sentences)
    expect(wordsOf(made.summary).length).toBeLessThanOrEqual(words)
    const plain = bees.replace(/\s+/g, ' ')
    const places = kept.map((sentence) => plain.indexOf(sentence))
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(made).toMatchObject({ max_length, sentences: kept.length, source: 'text', source_chars: plain.length })
  })

  it('says what the text is about and leaves out what leads away from it', async () => {
    const { summary } = await buy({ text: bees })
    expect(summary).toMatch(/honey/i)
    for (const sentence of stray) expect(summary).not.toContain(sentence)
  })

  it('has no headings between its sentences, and more than one of three', () => {
    const told = [
      'Ducks live on the ponds of the town.',
      'The council counted 312 ducks.',
      'Volunteers cleaned the ponds.',
    ]
    const blocks = ['Ducks on the ponds of the town', ...told, 'The ducks of the council ponds']
    const kept = summarize(blocks, { sentences: 5, words: 150 })
    expect(kept).toHaveLength(2)
    expect(told).toEqual(expect.arrayContaining(kept))
  })

  it('has nothing that leads to what it leaves out', () => {
    const [leading, ...blocks] = ['Ducks on ponds eat these:', 'Ducks on ponds eat bread', 'Ducks eat weeds on lakes']
    expect(summarize([String(leading), ...blocks], { sentences: 5, words: 150 })).not.toContain(leading)
  })

  it('of Markdown has the text of its links alone', async () => {
    const body = bees.replace('honey stomach', '[honey stomach](https://bees.test/stomach)')
    site.pages['/README.md'] = { headers: { 'content-type': 'text/plain' }, body }
    expect((await buy({ url: site.at('/README.md'), max_length: 'detailed' })).summary).not.toContain('](')
  })

  it('does not say the same thing twice', async () => {
    const text = `${'The new bridge over the river opens in May. '.repeat(6)}It cost forty million euros and replaces a ferry.
      Residents protested against the noise of the works.`
    const { summary } = await buy({ text })
    expect(summary.split('opens in May')).toHaveLength(2)
  })

  it('comes as a paragraph or as bullets of the same sentences', async () => {
    const paragraph = await buy({ text: bees })
    const bullets = await buy({ text: bees, format: 'bullets' })
    expect([paragraph.format, bullets.format]).toEqual(['paragraph', 'bullets'])
    const lines = bullets.summary.split('\n')
    expect(lines.every((line: string) => line.startsWith('- '))).toBe(true)
    expect(lines.map((line: string) => line.slice(2)).join(' ')).toBe(paragraph.summary)
  })

  it('of a text that is no longer is refused, and of one endless sentence is its beginning', async () => {
    const ask = buy({ text: 'Bees make honey.' })
    await expect(ask).rejects.toMatchObject({ code: 'input_invalid', details: [{ path: 'text' }] })
    const { summary } = await buy({ text: 'honey '.repeat(2_000), max_length: 'brief' })
    expect(summary).toBe(`${'honey '.repeat(60).trim()}…`)
  })

  it('is never longer than the text, for any text', () => {
    const word = fc.constantFrom(
      'bees',
      'honey',
      'the',
      'Dr.',
      'e.g.',
      'hive.',
      'queen!',
      'nectar?',
      '蜜蜂',
      '—',
      '3.5',
    )
    fc.assert(
      fc.property(fc.array(fc.array(word, { maxLength: 40 }), { maxLength: 8 }), (blocks) => {
        const texts = blocks.map((block) => block.join(' '))
        const made = summarize(texts, { sentences: 3, words: 30 })
        expect(made.join(' ').length).toBeLessThanOrEqual(texts.join(' ').length + 1)
        expect(made.length).toBeLessThanOrEqual(3)
        expect(summarize(texts, { sentences: 3, words: 30 })).toEqual(made)
      }),
    )
  })

  it('of the longest text allowed is made', async () => {
    const long = `${bees} `.repeat(60).slice(0, 50_000)
    expect((await buy({ text: long, max_length: 'detailed' })).source_chars).toBeGreaterThan(49_000)
    await expect(buy({ text: `${long}${bees}` })).rejects.toThrow('text')
  })
})

test('abbreviations, initials and numbers do not end a sentence', () => {
  const text = 'Dr. J. Smith paid 3.50 euros, e.g. for tea. She left at 5 p.m. with Mr. Jones vs. the rest. Done!'
  expect(sentencesOf(text)).toEqual([
    'Dr. J. Smith paid 3.50 euros, e.g. for tea.',
    'She left at 5 p.m. with Mr. Jones vs. the rest.',
    'Done!',
  ])
})

describe('a page', () => {
  const [lead, ...rest] = sentencesOf(bees.replace(/\s+/g, ' '))
  const article = `<html><head><title>Bees</title><style>p { color: red }</style></head><body>
    <nav><ul><li>Home</li><li>Honey honey honey honey shop for all honey lovers everywhere</li></ul></nav>
    <header>Subscribe to the honey letter of all honey lovers everywhere today</header>
    <article><h1>Bees</h1><p>${lead}</p><script>var honey = 'honey honey honey honey honey'</script>
    <p>${rest.join(' ')}</p></article>
    <aside>Buy honey, honey, honey, honey, honey and more honey here today.</aside>
    <footer>All honey rights of this honey page are reserved by honey.</footer></body></html>`

  it('is shortened to what it is about, without its margins', async () => {
    site.pages['/bees'] = { body: article }
    const made = await buy({ url: site.at('/bees'), max_length: 'detailed' })
    expect(made).toMatchObject({ source: 'url', url: site.at('/bees') })
    for (const margin of ['lovers', 'Buy honey', 'rights', 'var honey']) expect(made.summary).not.toContain(margin)
    expect(made.summary).toContain('Worker bees collect nectar from flowers')
  })

  it('without marked content, or of plain text, is shortened too', async () => {
    site.pages['/plain.html'] = {
      body: `<div><div>${lead}</div>${rest.map((text) => `<div>${text}</div>`).join('')}</div>`,
    }
    site.pages['/plain.txt'] = { headers: { 'content-type': 'text/plain' }, body: bees }
    for (const path of ['/plain.html', '/plain.txt']) {
      expect((await buy({ url: site.at(path) })).summary).toMatch(/honey/i)
    }
  })

  it('that cannot be shortened is the buyer’s to mend', async () => {
    site.pages['/empty'] = { body: '<script>1</script>' }
    site.pages['/picture'] = { headers: { 'content-type': 'image/png' }, body: 'x' }
    for (const path of ['/empty', '/picture', '/missing']) {
      await expect(buy({ url: site.at(path) })).rejects.toMatchObject({
        code: 'input_invalid',
        details: [{ path: 'url' }],
      })
    }
    await expect(buy({ text: ' ' })).rejects.toMatchObject({ details: [{ path: 'text' }] })
  })

  it('is not asked for when a text was given', async () => {
    expect((await buy({ text: bees, url: site.at('/bees') })).source).toBe('text')
    expect(site.asked).toEqual([])
  })
})

test('its own license is shortened without a word of its own', async () => {
  const license = readFileSync('LICENSE', 'utf8')
  const { summary } = await buy({ text: license, max_length: 'brief' })
  expect(license.replace(/\s+/g, ' ')).toContain(sentencesOf(summary)[0])
})
