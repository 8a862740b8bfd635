import type { IncomingMessage, ServerResponse } from 'node:http'
import { text as textOfStream } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { toolPath } from '../../../../fixtures/kit/tools.ts'
import { segmentsOf } from '../../../ports/translation/segments.ts'
import { deepL, libreTranslate, openTranslator, type PieceTranslator } from '../../../ports/translation/translator.ts'
import { openUpstream } from '../../../ports/upstream/upstream.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import type { JsonInput } from '../service/service.ts'
import { translation } from './translation.ts'

const apertium = toolPath('apertium')
const MAX_CHARS = 50_000
let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

const upstream = (headers: Record<string, string> = {}) =>
  openUpstream({
    web: site.web({ exempt: () => false }),
    wall: Date.now,
    name: 'It',
    base: site.at('/t'),
    headers,
    fix: 'nothing',
  })
async function translate(input: JsonInput, remote?: PieceTranslator, path?: string) {
  const translator = openTranslator({ ...(remote ? { remote } : {}), ...(path === undefined ? {} : { path }) })
  await translator.probe?.()
  return delivered({ service: translation, input, means: { engines: { translator: translator.port } } })
}
type Body = { q: string; target: string; source: string; text: string[]; api_key?: string }
function answer(path: string, make: (body: Body) => unknown): { body: Body; headers: IncomingMessage['headers'] }[] {
  const asked: { body: Body; headers: IncomingMessage['headers'] }[] = []
  site.pages[path] = async (req: IncomingMessage, res: ServerResponse) => {
    const body: Body = JSON.parse(await textOfStream(req))
    asked.push({ body, headers: req.headers })
    res.end(JSON.stringify(make(body)))
  }
  return asked
}
const languages = () => {
  site.pages['/t/languages'] = { body: '[{"code": "en"}, {"code": "de"}]' }
}

describe('a translation', () => {
  it('by LibreTranslate keeps the paragraphs and their order', async () => {
    languages()
    const asked = answer('/t/translate', ({ q }) => ({
      translatedText: `«${q}»`,
      detectedLanguage: { language: 'en' },
    }))
    const text = '  One fine morning.\n\n\nTwo birds sang in the old tree.\n \nThree.\n'
    const result = await translate(
      { text, target_lang: 'de', source_lang: 'en' },
      libreTranslate(upstream(), 'k'),
      '/nowhere',
    )
    expect(result).toMatchObject({
      translation: '  «One fine morning.»\n\n\n«Two birds sang in the old tree.»\n \n«Three.»\n',
      source_lang: 'en',
      source_detected: false,
      target_lang: 'de',
      segments: 3,
      quality: 'full',
      engine: { name: 'libretranslate', kind: 'upstream' },
    })
    expect(asked[0]?.body).toMatchObject({ source: 'en', target: 'de', api_key: 'k' })
  })

  it('by DeepL carries its key in a header alone, and the detected language back', async () => {
    const asked = answer('/t/v2/translate', ({ text }) => ({
      translations: text.map((one) => ({ text: one.toUpperCase(), detected_source_language: 'EN' })),
    }))
    const result = await translate(
      { text: 'The birds sing in the morning.\n\nThey do.', target_lang: 'PT' },
      deepL(upstream({ authorization: 'DeepL-Auth-Key secret' })),
      '/nowhere',
    )
    expect(result).toMatchObject({
      translation: 'THE BIRDS SING IN THE MORNING.\n\nTHEY DO.',
      source_lang: 'en',
      source_detected: true,
    })
    expect(asked[0]).toMatchObject({
      body: { target_lang: 'PT-PT' },
      headers: { authorization: 'DeepL-Auth-Key secret' },
    })
    expect(JSON.stringify([asked[0]?.body, result, site.asked])).not.toContain('secret')
  })

  const marked =
    'See `make house` at https://x.test/the/house, {name}:\n\n```sh\nmake the house\n\nrun\n```\nor write to the@house.test with --force, $HOUSE or house_key in /tmp/house.lock or ./house/house.yaml, and/or 1/2.'
  const kept = [
    '`make house`',
    'https://x.test/the/house',
    '{name}',
    '```sh\nmake the house\n\nrun\n```',
    'the@house.test',
    '--force',
    '$HOUSE',
    'house_key',
    '/tmp/house.lock',
    './house/house.yaml',
  ]

  it('leaves code, addresses and places to fill in as they are', async () => {
    const asked = answer('/t/v2/translate', (body) => ({
      translations: body.text.map((one) => ({ text: one.toUpperCase() })),
    }))
    const result = await translate({ text: marked, target_lang: 'de' }, deepL(upstream()), '/nowhere')
    for (const part of kept) expect(result.translation).toContain(part)
    expect(asked[0]?.body.text).toEqual(['See', 'at', 'or write to', 'with', 'or', 'in', 'or', ', and/or 1/2.'])
  })

  it.skipIf(!apertium)('on this machine leaves them too (needs apertium)', async () => {
    const text = `The house has a garden. ${marked}`
    const result = await translate({ text, source_lang: 'en', target_lang: 'es' })
    for (const part of kept) expect(result.translation).toContain(part)
    expect(result.translation).toContain('La casa tiene un jardín')
  })

  it('of the longest text allowed is whole', async () => {
    const texts = Array.from({ length: 2_000 }, (_, n) => `Sentence number ${n} is here.`)
    const text = texts.join(' ').slice(0, MAX_CHARS)
    answer('/t/v2/translate', (body) => ({ translations: body.text.map((one) => ({ text: one })) }))
    const result = await translate({ text, target_lang: 'de' }, deepL(upstream()), '/nowhere')
    expect(result.translation).toBe(text)
    expect(result.segments).toBeGreaterThan(10)
  })

  it('to the language that it is in is the text', async () => {
    expect(
      await translate({ text: 'Hola', target_lang: 'es', source_lang: 'es' }, libreTranslate(upstream(), undefined)),
    ).toMatchObject({
      translation: 'Hola',
      segments: 0,
    })
    expect(site.asked).toEqual([])
  })

  it.each<[string, JsonInput, string]>([
    ['a language that nobody has', { text: 'Hello you all', target_lang: 'xx' }, 'target_lang'],
    ['what is no language', { text: 'Hello', target_lang: '../de' }, 'target_lang'],
    ['nothing', { text: '  ', target_lang: 'de' }, 'text'],
  ])('of %s is refused and names the member', async (_, input, path) => {
    languages()
    await expect(translate(input, libreTranslate(upstream(), undefined), '/nowhere')).rejects.toMatchObject({
      code: 'input_invalid',
      details: [{ path }],
    })
  })

  it.each<[string, number, string]>([
    ['LibreTranslate wants a key', 403, '{"error":"secret words"}'],
    ['LibreTranslate was asked too often', 429, '{"error":"secret words"}'],
    ['DeepL has no letters left', 456, '{"message":"secret words"}'],
    ['DeepL takes the key no more', 403, ''],
    ['a page stands in front of it', 200, '<!doctype html><title>secret words</title>'],
  ])('costs nothing and blames no member where %s', async (engine, status, body) => {
    languages()
    const page = { status, headers: { 'retry-after': '60' }, body }
    Object.assign(site.pages, { '/t/translate': page, '/t/v2/translate': page })
    const remote = engine.startsWith('DeepL') ? deepL(upstream()) : libreTranslate(upstream(), undefined)
    const input = { text: 'Hello there', source_lang: 'en', target_lang: 'de' }
    await expect(translate(input, remote, '/nowhere')).rejects.toMatchObject({
      code: 'provider_failed',
      message: expect.not.stringContaining('secret'),
    })
  })

  it.each<[string, unknown]>([
    ['loses a part', { translations: [] }],
    ['answers in another shape', { result: 'x' }],
  ])('costs nothing where the engine %s', async (_, body) => {
    answer('/t/v2/translate', () => body)
    await expect(
      translate({ text: 'Hello there', target_lang: 'de' }, deepL(upstream()), '/nowhere'),
    ).rejects.toMatchObject({
      code: 'provider_failed',
    })
  })
})

describe.skipIf(!apertium)('a translation on this machine (needs apertium-eng-spa)', () => {
  it('gives the gist, keeps the paragraphs, and says what it is', async () => {
    const text = 'The house is big and it stands on a hill.\n\nThe dog sleeps in the garden.'
    const result = await translate({ text, target_lang: 'es' })
    expect(result.translation).toMatch(/^La casa[\s\S]+\n\n.*perro/)
    expect(result).toMatchObject({
      source_lang: 'en',
      source_detected: true,
      quality: 'gist',
      engine: { name: 'apertium' },
    })
  })

  it('of a pair that is not installed is refused before payment, and says what there is', async () => {
    await expect(translate({ text: 'The house is big.', target_lang: 'de' })).rejects.toMatchObject({
      details: [{ path: 'target_lang', message: expect.stringContaining('es') }],
    })
  })

  it('stands in for an engine that fails', async () => {
    site.pages['/t/v2/translate'] = { status: 403 }
    answer('/t/v2/translate', () => ({ nonsense: true }))
    const result = await translate(
      { text: 'The house is big.', target_lang: 'es', source_lang: 'en' },
      deepL(upstream()),
    )
    expect(result).toMatchObject({ quality: 'gist', engine: { name: 'apertium', fallback_from: 'deepl' } })
  })
})

describe('pieces of a text', () => {
  it.each([
    ['paragraphs', 'a\n\nb\r\n\r\n c '],
    ['one long word', 'x'.repeat(10_000)],
    ['long sentences', `${'word '.repeat(3_000)}.`],
    ['space alone', ' \n\n '],
    ['code and addresses', 'a `b` {c} https://d.test/e f@g.test\n\n```\nh\n'],
  ])('of %s are the text again', (_, text) => {
    const pieces = segmentsOf(text)
    expect(pieces.map((piece) => piece.text).join('')).toBe(text)
    expect(Math.max(...pieces.map((piece) => piece.text.length))).toBeLessThanOrEqual(4_000)
  })
})
