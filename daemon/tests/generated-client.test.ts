import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { OUTSIDE, load as outside } from '../../fixtures/outside/load.ts'

// @deep a compiler of others goes over the whole description

/* Somebody who has nothing but the description: types are generated from it, and a program is written with them. */

const ROOT = join(import.meta.dirname, '../..')
const PROGRAM = join(ROOT, 'fixtures', 'generated-client', 'walk.ts.txt')

let market: Marketplace
let dir: string
let types: string
beforeAll(async () => {
  market = await openMarketplace()
  dir = await mkdtemp(join(tmpdir(), 'souk-client-'))
  await symlink(OUTSIDE, join(dir, 'node_modules'))
  await writeFile(join(dir, 'package.json'), '{"type":"module"}')
  const { default: openapiTS, astToString } = await outside('openapi-typescript')
  types = astToString(await openapiTS(new URL(`${market.url()}/openapi.json`)))
  await writeFile(join(dir, 'description.ts'), types)
  await copyFile(PROGRAM, join(dir, 'walk.ts'))
})
afterAll(async () => {
  await market.close()
  await rm(dir, { recursive: true, force: true })
})

/** Faults that the compiler finds, as its users read them. */
function faultsIn(file: string): string[] {
  const program = ts.createProgram([join(dir, file)], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules', '@types')],
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  })
  return ts.getPreEmitDiagnostics(program).map(({ file: where, start, messageText }) => {
    const line = where && start !== undefined ? `${where.getLineAndCharacterOfPosition(start).line + 1}: ` : ''
    return line + ts.flattenDiagnosticMessageText(messageText, '\n')
  })
}

async function funded(): Promise<string> {
  const key = generatePrivateKey()
  const { address: wallet } = privateKeyToAccount(key)
  await market.admin('POST', '/dashboard/api/admin/faucet', { body: { wallet, amount: '10.00' } })
  return key
}

test('a program with generated types compiles under strict, and buys what it sold', async () => {
  expect(faultsIn('walk.ts')).toEqual([])
  const { asset } = market.daemon.ctx.chain
  const words = [join(dir, 'walk.ts'), market.url(), await funded(), await funded(), asset.address]
  const { stdout } = await promisify(execFile)(process.execPath, words)
  expect(JSON.parse(stdout)).toMatchObject({
    price: '$0.50',
    agentPrice: '$0.525',
    ticket: 'dispatched',
    delivered: 'completed',
    verified: 'released',
    rating: 5,
    refusal: 'not_found',
  })
})

test('a wrong member is found by the compiler', async () => {
  const wrong = `import createClient from 'openapi-fetch'
import type { paths } from './description.ts'
const client = createClient<paths>({ baseUrl: '' })
const { data } = await client.GET('/v1/jobs/{id}', { params: { path: { id: '' } } })
data?.no_such_member
await client.POST('/v1/register', { body: { name: 'A', type: 'robot' } })
`
  await writeFile(join(dir, 'wrong.ts'), wrong)
  expect(faultsIn('wrong.ts').map((fault) => fault.split(':')[0])).toEqual(['5', '6'])
})

test('what a JSON answer holds is known, documents that are kept as bytes aside', () => {
  const loose = types.split('\n').filter((line) => /"application\/json": (?:unknown|Record<string, never>)/.test(line))
  expect(loose.filter((line) => line.includes('unknown')).length).toBeLessThanOrEqual(3)
})
