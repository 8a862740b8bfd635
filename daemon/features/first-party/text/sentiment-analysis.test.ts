import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { buyFrom } from '../../../../fixtures/kit/buy-from.ts'
import { judge, sentimentAnalysis } from './sentiment-analysis.ts'

const buy = buyFrom(sentimentAnalysis)

const said = {
  positive: `The delivery was quick and the quality is excellent.
    I absolutely love this phone, best purchase of the year!
    Great value for money. Would buy again.
    The staff were friendly and helpful.
    Not bad at all for the price.
    Five stars. Highly recommended.
    It never fails to make me smile.
    I was skeptical at first, but this turned out to be wonderful.
    My kids adore it 😍
    Finally a keyboard without annoying noise.
    A stunning film with a brilliant cast.
    Not only cheap but also reliable.
    Great, another win for the team!
    Oh wonderful, my parcel is here already!
    Just what I needed, thank you so much.`,
  negative: `Terrible service, I waited two hours and nobody came.
    Do not buy this. Complete waste of money.
    The food was cold and the waiter was rude.
    I am very disappointed with the quality.
    It broke after three days.
    Not good. Not good at all.
    Worst experience of my life!!!
    I would not recommend this to anyone.
    I don't like the new design.
    I don’t like the new design.
    ugh, another boring meeting 😩`,
  neutral: `The package was delivered on Tuesday.
    The meeting starts at nine in the main office.
    Water boils at 100 degrees Celsius at sea level.
    He works as an engineer in a company that makes bridges.
    The function returns a list of integers.
    1234 5678`,
  mixed: `The camera is excellent but the battery is terrible.
    Great location and lovely breakfast, however the room was dirty and noisy.
    The acting was superb. The plot was boring and the ending was a mess.
    Fast delivery, friendly seller. Sadly the product arrived damaged and useless.`,
}

describe.each(Object.entries(said))('%s is', (sentiment, lines) => {
  it.each(lines.split('\n').map((line) => line.trim()))('%s', async (text) => {
    const judged = await buy({ text })
    expect([judged.sentiment, judged.score >= 0.05, judged.score <= -0.05]).toEqual([
      sentiment,
      sentiment === 'positive' || (sentiment === 'mixed' && judged.score >= 0.05),
      sentiment === 'negative' || (sentiment === 'mixed' && judged.score <= -0.05),
    ])
  })
})

test('what strengthens a judgement strengthens the score, what weakens it weakens it', () => {
  const score = (text: string) => judge(text).score
  expect(score('It is very good.')).toBeGreaterThan(score('It is good.'))
  expect(score('It is slightly good.')).toBeLessThan(score('It is good.'))
  expect(score('It is good!')).toBeGreaterThan(score('It is good.'))
  expect(score('It is GOOD, they say.')).toBeGreaterThan(score('It is good, they say.'))
  expect(score('It is not bad, it is good.')).toBeGreaterThan(score('It is not good, it is bad.'))
  expect(score('The screen is bad, but the sound is good.')).toBeGreaterThan(
    score('The sound is good, but the screen is bad.'),
  )
})

test('it says what it judged by', () => {
  expect(judge('The food was not good and the room was very dirty.').reasons).toEqual([
    'negative: and the room was very dirty.',
    'negative: The food was not good',
  ])
})

test.each([
  ['de', 'Das Hotel war wunderbar, aber das Essen leider kalt.'],
  ['fr', 'Je suis très déçu par la qualité de ce produit.'],
  ['es', 'La comida estaba fría y el camarero fue muy grosero.'],
  ['ja', '素晴らしい商品です。また買います。'],
  ['ru', 'Ужасное обслуживание, никогда больше не приду.'],
])('a text in another language (%s) is refused by its name, and costs nothing', async (language, text) => {
  await expect(buy({ text })).rejects.toMatchObject({
    code: 'input_invalid',
    details: [
      {
        path: 'text',
        message: expect.stringContaining(`unsupported_language: the text seems to be in "${language}"`),
      },
    ],
  })
})

test.each(['Awesome!', 'Great value', 'Meh.', 'Superb phone, lousy battery'])('%s is English enough', async (text) => {
  expect(await buy({ text })).toMatchObject({ language: 'en' })
})

describe('its confidence', () => {
  it('is low where there is nothing to judge by', () => {
    expect(judge('The train leaves at nine.').confidence).toBeLessThanOrEqual(0.5)
    expect(judge('...').confidence).toBe(0)
  })

  it('grows with agreeing evidence', () => {
    const few = judge('The room was clean.')
    const many = judge('The room was clean, the staff wonderful, the food delicious and the view stunning.')
    expect(many.confidence).toBeGreaterThan(few.confidence)
    expect(many.confidence).toBeLessThanOrEqual(0.9)
  })
})

test('any text is judged, within bounds and always alike', () => {
  const words = fc.constantFrom('good', 'bad', 'not', 'very', 'but', 'like', '😀', ':(', '.', 'the', "isn't", 'x')
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.array(words, { maxLength: 60 }).map((list) => list.join(' ')),
  )
  fc.assert(
    fc.property(text, (any) => {
      const judged = judge(any)
      expect(Math.abs(judged.score)).toBeLessThanOrEqual(1)
      expect(judged.confidence).toBeGreaterThanOrEqual(0)
      expect(judged.confidence).toBeLessThanOrEqual(0.9)
      expect(judged.reasons.length).toBeLessThanOrEqual(10)
      expect(judge(any)).toEqual(judged)
      if (judged.sentiment === 'positive') expect(judged.score).toBeGreaterThan(0)
      if (judged.sentiment === 'negative') expect(judged.score).toBeLessThan(0)
    }),
    { numRuns: 50 },
  )
})

test.each([' ', '\n\t'])('%j is refused', async (text) => {
  await expect(buy({ text })).rejects.toMatchObject({ code: 'input_invalid', details: [{ path: 'text' }] })
})

test('the longest text allowed is judged', async () => {
  const long = 'This is a good day and not a bad one. '.repeat(300).slice(0, 10_000)
  expect((await buy({ text: long })).sentiment).toBe('positive')
  await expect(buy({ text: `${long}!` })).rejects.toThrow('text')
})
