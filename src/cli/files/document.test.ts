import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { openUserAtMarket, type User } from '../../../fixtures/kit/user.ts'
import { MAX_DELIVERY_BODY_BYTES } from '../../core/limits.ts'
import { CliError } from '../exit.ts'
import { parseDocument, readDocument } from './document.ts'

/* Files that a person writes for a command: YAML wherever JSON is read, and neither may hurt. */

const nobody = { stdin: async () => '' }
const refusal = (reading: Promise<unknown>) =>
  reading.then(
    () => 'read',
    (error: unknown) => (error instanceof CliError && error.exit === 'usage' ? error.message : `thrown: ${error}`),
  )

test('what JSON says, YAML says too, and both are read as the same', async () => {
  const document = fc.jsonValue({ maxDepth: 4, noUnicodeString: false })
  await fc.assert(
    fc.asyncProperty(document, async (value) => {
      fc.pre(!JSON.stringify(value).includes('__proto__'))
      const text = JSON.stringify(value)
      const meant: unknown = JSON.parse(text)
      expect(await parseDocument(text, 'a')).toEqual(meant)
      expect(await parseDocument(stringify(meant, { aliasDuplicateObjects: false }), 'a')).toEqual(meant)
    }),
    { numRuns: 100 },
  )
})

const BILLION = ['a: &a [x, x]', 'b: &b [*a, *a]', 'c: &c [*b, *b]', 'd: [*c, *c]'].join('\n')
test.each<[string, string, string]>([
  ['links that would become more than any memory', BILLION, 'it uses aliases'],
  ['one link', 'a: &x { y: 1 }\nb: *x', 'it uses aliases'],
  ['what is nested deeper than anything that is read', '['.repeat(20_000), 'nested too deep'],
  ['the same in lines', Array.from({ length: 200 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), 'nested more than'],
  ['the same as JSON', `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`, 'nested more than'],
  ['tags, which are programs elsewhere', 'a: !!js/function "() => 1"', 'Unresolved tag'],
  ['bytes', 'a: !!binary aGVsbG8=', 'Unresolved tag'],
  ['a version in which yes is true', '%YAML 1.1\n---\na: yes', 'YAML 1.1 is not supported'],
  ['two documents', '--- 1\n--- 2', 'multiple documents'],
  ['a name twice', 'price: 1\nprice: 2', 'unique'],
  ['a name that is a list', '? [1, 2]\n: 3', 'With stringKeys'],
  ['numbers that JSON has not', 'price: .inf', 'price is broken Unicode, or a number too large'],
  ['names that reach a prototype', '__proto__: { x: 1 }', 'not an allowed name'],
  ['the same as JSON', '{"__proto__": {"x": 1}}', 'not an allowed name'],
  ['a tab for an indentation', 'a:\n\tb: 1', 'Tabs'],
])('%s: refused in a sentence', async (_, text, why) => {
  const said = await refusal(parseDocument(text, 'listing.yaml'))
  expect(said).toContain(why)
  expect(said).toMatch(/^listing\.yaml /)
  expect(said).not.toContain('\n')
})

describe('a file', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'souk-document-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  const written = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }

  test('that calls itself JSON is refused as JSON, with the place', async () => {
    const file = await written('bad.json', '{"a": 1,}')
    expect(await refusal(readDocument(nobody, file))).toMatch(/bad\.json is not JSON: .*position 8/)
  })

  test('larger than what is sent is refused before it is read, in either form', async () => {
    const file = await written('large.yaml', 'x'.repeat(MAX_DELIVERY_BODY_BYTES + 1))
    expect(await refusal(readDocument(nobody, file))).toContain('is larger than')
    expect(await refusal(readDocument({ stdin: async () => 'x'.repeat(MAX_DELIVERY_BODY_BYTES + 1) }, '-'))).toContain(
      'stdin is larger than',
    )
    expect(await refusal(readDocument(nobody, '/dev/zero'))).toContain('is larger than')
  })

  test('that is not there, is a folder, or a link to nothing, is named', async () => {
    await symlink(join(folder, 'gone'), join(folder, 'link'))
    for (const file of [join(folder, 'none'), join(folder, 'link')])
      expect(await refusal(readDocument(nobody, file))).toBe(`There is no file ${file}.`)
    expect(await refusal(readDocument(nobody, folder))).toContain('cannot be read')
  })

  test('begun by an editor of another system is read all the same', async () => {
    expect(await readDocument(nobody, await written('bom.yaml', '\uFEFFname: Echo\r\nprice: 0.50\r\n'))).toEqual({
      name: 'Echo',
      price: 0.5,
    })
  })
})

describe('at a living market', () => {
  let user: User
  beforeAll(async () => {
    user = await openUserAtMarket()
    await user.register('main', '5.00')
  })
  afterAll(() => user.close())

  const listing = { name: 'Echo', description: 'Says it.', price: '0.50', fulfillment_type: 'human' }
  const event = { id: 'e', at: '2026-01-01T00:00:00.000Z', intent: { payer: '0x0' }, decision: 'allowed' }
  const commands: readonly (readonly [words: string, document: object])[] = [
    ['services create --file', listing],
    ['services edit svc_0123456789abcdef --file', { price: '0.75', tags: ['a', 'b'] }],
    ['trace record -f', event],
    ['jobs update job_0123456789abcdef --deliverable', { words: [1, 2.5, null, 'three'] }],
    ['threads update thr_0123456789abcdef --status completed --deliverable', { words: 2 }],
    ['requests create --title Logo --budget 5 --brief-file', { style: 'plain', sizes: [1, 2] }],
    ['api /v1/services --input', listing],
  ]
  test.each(commands)('souk %s FILE sends the same for both forms', async (words, document) => {
    const sent = async (name: string, text: string) => {
      const file = join(user.home, name)
      await writeFile(file, text)
      return (await user.json(...words.split(' '), file, '--dry-run')).request.body
    }
    const asJson = await sent('asked.json', JSON.stringify(document))
    expect(await sent('asked.yaml', stringify(document))).toEqual(asJson)
    for (const [name, value] of Object.entries(document))
      expect(JSON.stringify(asJson)).toContain(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
  })

  test('an input and a listing of YAML are bought and listed as they stand', async () => {
    const file = join(user.home, 'input.yaml')
    await writeFile(file, '# what it holds\ndata: hello\nsize: 120\n')
    const bought = await user.json('buy', 'qr_code', '--input-file', file, '--yes')
    expect(bought).toMatchObject({ status: 'completed' })
    await writeFile(file, 'name: Echo\ndescription: Says it.\nprice: 0.50\nfulfillment_type: human\n')
    expect(await user.json('services', 'create', '-f', file)).toMatchObject({ price: { fixed: '$0.50' } })
  })
})

test('there is one reader, and one of keys, which tells the line: no command parses YAML by itself', () => {
  const root = join(import.meta.dirname, '../../..')
  const sources = ['src/cli', 'src/market', 'src/provider', 'src/mcp', 'src/lifecycle', 'commands'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  const parsing = sources.filter(
    (file) =>
      /(?<!\.test)\.ts$/.test(file) &&
      /(\bparse\b|parseDocument)[^\n]*import\('[^']*yaml(\.ts)?'\)|from 'yaml'|yaml\.parse/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
  )
  expect(parsing.toSorted()).toEqual([
    'src/cli/files/document.ts',
    'src/cli/files/key-file.ts',
    'src/cli/files/yaml.ts',
  ])
})
