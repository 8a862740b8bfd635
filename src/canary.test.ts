import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// @deep every rule is seen to fire

/*
 * A rule that nobody has seen fire is a wish. Each row plants one violation in an empty tree under this
 * repository's own configuration; the tool must name the rule for that file. Rows without a rule must stay silent.
 */

const ROOT = join(import.meta.dirname, '..')
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const lines = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join('\n')

type Plant = { readonly rule: string | undefined; readonly at: string; readonly text: string }

const branches = lines(13, (i) => `if (n > ${i}) { if (n < ${i}) { m += ${i} } }`)

const lintPlants: readonly Plant[] = [
  {
    rule: 'complexity/noExcessiveCognitiveComplexity',
    at: 'src/c1.ts',
    text: `export function f(n: number) { let m = 0; ${branches}; return m }`,
  },
  {
    rule: 'complexity/noExcessiveLinesPerFunction',
    at: 'src/c2.ts',
    text: `export function f(v: number[]) {\n${lines(61, (i) => `v.push(${i})`)}\n}`,
  },
  {
    rule: 'complexity/useMaxParams',
    at: 'src/c3.ts',
    text: 'export const f = (a: 1, b: 2, c: 3, d: 4) => [a, b, c, d]',
  },
  {
    rule: 'complexity/noUselessCatch',
    at: 'src/c4.ts',
    text: 'export function f(g: () => 1) { try { return g() } catch (e) { throw e } }',
  },
  {
    rule: 'correctness/noUnusedImports',
    at: 'src/k1.ts',
    text: "import { join } from 'node:path'\nexport const a = 1",
  },
  { rule: 'correctness/noUnusedVariables', at: 'src/k2.ts', text: 'const a = 1\nexport const b = 2' },
  { rule: 'correctness/noUnusedFunctionParameters', at: 'src/k3.ts', text: 'export const f = (a: 1) => 2' },
  { rule: 'correctness/useImportExtensions', at: 'src/k4.ts', text: "import { b } from './k2'\nexport const c = b" },
  {
    rule: 'nursery/noFloatingPromises',
    at: 'src/n1.ts',
    text: 'async function go() { return 1 }\nexport function f() { go() }',
  },
  {
    rule: 'nursery/noFloatingPromises',
    at: 'src/n2.ts',
    text: "import { f } from './n3.ts'\nexport function g() { f() }",
  },
  {
    rule: undefined,
    at: 'src/n3.ts',
    text: 'export async function f() { return await g() }\nasync function g() { return 1 }',
  },
  {
    rule: 'nursery/noMisusedPromises',
    at: 'src/n4.ts',
    text: 'async function go() { return true }\nexport function f() { if (go()) return 1; return 2 }',
  },
  {
    rule: 'nursery/useExhaustiveSwitchCases',
    at: 'src/n5.ts',
    text: "export function f(k: 'a' | 'b') { switch (k) { case 'a': return 1 } return 2 }",
  },
  { rule: 'performance/noBarrelFile', at: 'src/p1.ts', text: "export { f } from './n3.ts'" },
  { rule: 'performance/noReExportAll', at: 'src/p2.ts', text: "export * from './n3.ts'" },
  { rule: 'style/noDefaultExport', at: 'src/s1.ts', text: 'export default 1' },
  { rule: 'style/noExcessiveLinesPerFile', at: 'src/s2.ts', text: lines(401, (i) => `export const a${i} = ${i}`) },
  {
    rule: 'style/noNestedTernary',
    at: 'src/s3.ts',
    text: 'export const f = (a: boolean, b: boolean) => (a ? 1 : b ? 2 : 3)',
  },
  { rule: 'style/noNonNullAssertion', at: 'src/s4.ts', text: 'export const f = (a?: string) => a!.length' },
  { rule: 'style/noParameterAssign', at: 'src/s5.ts', text: 'export function f(a: number) { a = 2; return a }' },
  { rule: 'style/noProcessEnv', at: 'src/s6.ts', text: 'export const a = process.env.HOME' },
  { rule: undefined, at: 'src/cli/env.ts', text: 'export const a = process.env.HOME ?? Date.now()' },
  { rule: 'style/noRestrictedGlobals', at: 'src/s7.ts', text: 'export const f = () => setInterval(() => 1, 2)' },
  { rule: 'style/noRestrictedGlobals', at: 'src/s8.ts', text: "export const f = () => fetch('http://127.0.0.1')" },
  { rule: undefined, at: 'src/client/transport.ts', text: "export const f = () => fetch('http://127.0.0.1')" },
  { rule: 'style/useConsistentTypeDefinitions', at: 'src/s9.ts', text: 'export interface A { a: 1 }' },
  { rule: 'style/useFilenamingConvention', at: 'src/CamelCase.ts', text: 'export const a = 1' },
  { rule: 'style/useImportType', at: 'src/s10.ts', text: "import { Stats } from 'node:fs'\nexport type A = Stats" },
  {
    rule: 'style/useNodejsImportProtocol',
    at: 'src/s11.ts',
    text: "import { join } from 'path'\nexport const a = join('b')",
  },
  { rule: 'style/useThrowOnlyError', at: 'src/s12.ts', text: "export function f() { throw 'a' }" },
  { rule: 'suspicious/noConsole', at: 'src/u1.ts', text: 'console.log(1)' },
  { rule: undefined, at: 'bin/u1.ts', text: 'console.log(1)' },
  {
    rule: 'suspicious/noEmptyBlockStatements',
    at: 'src/u2.ts',
    text: 'export function f(g: () => 1) { try { return g() } catch {} }',
  },
  { rule: 'suspicious/noExplicitAny', at: 'src/u3.ts', text: 'export const f = (a: any) => a' },
  { rule: 'suspicious/noFocusedTests', at: 'src/u4.test.ts', text: "it.only('a', () => 1)" },
  { rule: 'suspicious/noSkippedTests', at: 'src/u5.test.ts', text: "it.skip('a', () => 1)" },
  { rule: 'suspicious/noImportCycles', at: 'src/u6.ts', text: "import { b } from './u7.ts'\nexport const a = () => b" },
  { rule: 'suspicious/noImportCycles', at: 'src/u7.ts', text: "import { a } from './u6.ts'\nexport const b = () => a" },
  { rule: 'suspicious/noTsIgnore', at: 'src/u8.ts', text: '// @ts-ignore\nexport const a: 1 = 2' },
  { rule: 'plugin: instead of Date.now()', at: 'src/g1.ts', text: 'export const a = Date.now()' },
  { rule: 'plugin: instead of new Date()', at: 'src/g2.ts', text: 'export const a = new Date()' },
  { rule: 'plugin: instead of Date()', at: 'src/g3.ts', text: 'export const a = Date()' },
  { rule: 'plugin: instead of performance.now()', at: 'src/g4.ts', text: 'export const a = performance.now()' },
  {
    rule: 'plugin: instead of Math.random()',
    at: 'daemon/features/jobs/g5.ts',
    text: 'export const a = Math.random()',
  },
  { rule: 'plugin: instead of parseFloat', at: 'src/cli/g6.ts', text: "export const a = parseFloat('1')" },
  { rule: 'plugin: instead of parseFloat', at: 'src/g7.ts', text: "export const a = Number.parseFloat('1')" },
  {
    rule: 'plugin: instead of randomUUID',
    at: 'daemon/kernel/g10.ts',
    text: "import { randomUUID } from 'node:crypto'\nexport const a = randomUUID()",
  },
  {
    rule: 'plugin: instead of randomUUID',
    at: 'daemon/features/payments/g10.ts',
    text: 'export const a = crypto.randomUUID()',
  },
  {
    rule: 'plugin: instead of randomBytes',
    at: 'daemon/http/g10.ts',
    text: "import { randomBytes } from 'node:crypto'\nexport const a = randomBytes(8)",
  },
  {
    rule: 'plugin: instead of randomInt',
    at: 'daemon/crons/g10.ts',
    text: "import { randomInt } from 'node:crypto'\nexport const a = randomInt(8)",
  },
  {
    rule: 'plugin: instead of getRandomValues',
    at: 'src/core/g10.ts',
    text: 'export const a = crypto.getRandomValues(new Uint8Array(8))',
  },
  {
    rule: undefined,
    at: 'src/client/g10.ts',
    text: "import { randomBytes } from 'node:crypto'\nexport const a = randomBytes(8)",
  },
  { rule: undefined, at: 'src/g8.ts', text: 'export const f = (ms: number) => new Date(ms)' },
  { rule: undefined, at: 'daemon/ports/clock.ts', text: 'export const now = () => Date.now() + Math.random()' },
  { rule: undefined, at: 'bin/bench/clock.ts', text: "export const a = Date.now() + parseFloat('1')" },
  { rule: undefined, at: 'src/g9.test.ts', text: 'export const now = () => Date.now()' },
]

const { rooms, forbidden } = createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs')) as {
  readonly rooms: readonly (readonly string[])[]
  readonly forbidden: readonly { readonly name: string }[]
}
const [shared = [], front = [], back = []] = rooms

/** In each room an import of the room above it; above the last of a list stands the first of the next. */
const roomPlants: readonly Plant[] = [
  ...climb(shared, front[0]),
  ...climb(front, back[0]),
  ...climb(back, front.at(-1)),
  ...rooms.flat().map((room) => ({ rule: undefined, at: `${room}/ok.ts`, text: 'export const a = 1' })),
  // A room may use all that lies below it.
  { rule: undefined, at: `${back.at(-1)}/below.ts`, text: `import type {} from '${upTo(back.at(-1), back[0])}'` },
]

function climb(list: readonly string[], roof: string | undefined): readonly Plant[] {
  return list.map((room, floor) => ({
    rule: `room-${room.replaceAll('/', '-')}`,
    at: `${room}/up.ts`,
    text: `import type {} from '${upTo(room, list[floor + 1] ?? roof)}'`,
  }))
}

function upTo(from = '', to = ''): string {
  return `${'../'.repeat(from.split('/').length)}${to}/ok.ts`
}

const importPlants: readonly Plant[] = [
  ...roomPlants,
  { rule: undefined, at: 'bin/ok.ts', text: 'export const a = 1' },
  { rule: undefined, at: 'daemon/ports/b.ts', text: "import type {} from '../store/port.ts'" },
  {
    rule: 'daemon-door',
    at: 'bin/souk.ts',
    text: "export const f = () => import('../daemon/http/server.ts')",
  },
  {
    rule: 'room-src-lifecycle',
    at: 'src/lifecycle/b.ts',
    text: "export const f = () => import('../../daemon/index.ts')",
  },
  { rule: 'cockpit-stands-aside', at: 'src/cli/c.ts', text: "export const f = () => import('../tui/ok.ts')" },
  { rule: 'pure-files-use-no-node', at: 'daemon/features/jobs/machine.ts', text: "import 'node:fs'" },
  {
    rule: undefined,
    at: 'daemon/features/reputation/score.ts',
    text: "import { createHash } from 'node:crypto'\ncreateHash",
  },
  { rule: 'express-only-in-server', at: 'daemon/features/jobs/c.ts', text: "import type {} from 'express'" },
  { rule: undefined, at: 'daemon/http/server.ts', text: "import 'express'" },
  { rule: 'lowdb-only-in-its-engine', at: 'daemon/store/b.ts', text: "import { Low } from 'lowdb'\nLow" },
  { rule: undefined, at: 'daemon/store/lowdb/ok.ts', text: "import { Low } from 'lowdb'\nLow" },
  {
    rule: 'mcp-sdk-only-in-mcp',
    at: 'src/cli/m.ts',
    text: "export const f = () => import('@modelcontextprotocol/server')",
  },
  { rule: 'ink-only-in-tui', at: 'src/cli/b.ts', text: "export const f = () => import('ink')" },
  {
    rule: 'engine-only-behind-the-port',
    at: 'daemon/features/jobs/d.ts',
    text: "import '../../store/lowdb/ok.ts'",
  },
  { rule: 'start-path-loads-light', at: 'src/client/c.ts', text: "import 'viem/accounts'" },
  { rule: 'start-path-loads-light', at: 'commands/services/b.ts', text: "import ora from 'ora'\nora" },
  {
    rule: undefined,
    at: 'src/client/d.ts',
    text: "import type { Hex } from 'viem'\nexport const f = (_: Hex) => import('viem/accounts')",
  },
  { rule: 'start-path-loads-no-heavy-folder', at: 'commands/services/c.ts', text: "import '../../src/tui/ok.ts'" },
  { rule: 'no-circular', at: 'src/core/b.ts', text: "import './c.ts'" },
  { rule: undefined, at: 'src/core/c.ts', text: "import type {} from './b.ts'" },
  { rule: 'no-test-in-product', at: 'daemon/http/b.ts', text: "import '../ports/clock.fake.ts'" },
  { rule: 'no-dev-dependency-in-product', at: 'daemon/http/c.ts', text: "import 'fast-check'" },
  { rule: 'no-unresolvable', at: 'daemon/http/d.ts', text: "import './nowhere.ts'" },
  { rule: 'no-undeclared-package', at: 'daemon/http/e.ts', text: "import 'ws'" },
  { rule: 'no-test-in-product', at: 'daemon/http/f.ts', text: "import '../../fixtures/sale.ts'" },
  { rule: undefined, at: 'src/client/daemon.test.ts', text: "import '../../daemon/index.ts'" },
  ...[
    'daemon/index.ts',
    'daemon/store/port.ts',
    'daemon/store/other.ts',
    'daemon/store/errors.ts',
    'fixtures/sale.ts',
    'daemon/ports/clock.fake.ts',
  ].map((at) => ({ rule: undefined, at, text: 'export const a = 1' })),
]

let tree = ''

beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), 'souk-canary-'))
  for (const folder of ['lint', 'imports']) {
    for (const file of ['biome.json', '.biome', '.dependency-cruiser.cjs', 'tsconfig.json', 'package.json']) {
      await cp(join(ROOT, file), join(tree, folder, file), { recursive: true })
    }
  }
  await symlink(join(ROOT, 'node_modules'), join(tree, 'imports/node_modules'))
  await plant('lint', lintPlants)
  await plant('imports', importPlants)
})

afterAll(async () => {
  await rm(tree, { recursive: true, force: true })
})

describe('Biome', () => {
  it('names the rule for every planted violation and is silent elsewhere', async () => {
    const found = (await lint()).flatMap((diagnostic) => lintFinding(diagnostic))
    expect(missing(lintPlants, found)).toEqual([])
    expect(noise(lintPlants, found)).toEqual([])
  })

  it('has a planted violation for every rule that biome.json sets', async () => {
    const { linter } = JSON.parse(await readFile(join(ROOT, 'biome.json'), 'utf8'))
    const { preset: _, ...groups } = linter.rules
    const set = Object.entries<object>(groups).flatMap(([group, rules]) =>
      Object.entries(rules)
        .filter(([, level]) => level !== 'off')
        .map(([rule]) => `${group}/${rule}`),
    )
    expect(set.filter((rule) => !lintPlants.some((row) => row.rule === rule))).toEqual([])
  })
})

describe('dependency-cruiser', () => {
  it('names the rule for every planted import and is silent elsewhere', async () => {
    const found = await cruise()
    expect(missing(importPlants, found)).toEqual([])
    expect(noise(importPlants, found)).toEqual([])
  })

  it('has a planted import for every rule of the import law', () => {
    const names = forbidden.map((rule) => rule.name)
    expect(names.filter((name) => !importPlants.some((row) => row.rule === name))).toEqual([])
  })
})

async function plant(folder: string, plants: readonly Plant[]) {
  for (const { at, text } of plants) {
    const file = join(tree, folder, at)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `${text}\n`)
  }
}

type Diagnostic = { category: string; message: string; location: { path: string } }

async function lint(): Promise<Diagnostic[]> {
  const args = ['lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none', '.']
  return JSON.parse(await output('node_modules/@biomejs/biome/bin/biome', args, 'lint')).diagnostics
}

function lintFinding({ category, message, location }: Diagnostic): string[] {
  if (category === 'plugin') return [`${location.path} plugin: ${message.slice(message.indexOf('instead of'))}`]
  return category.startsWith('lint/') ? [`${location.path} ${category.slice('lint/'.length)}`] : []
}

async function cruise(): Promise<string[]> {
  const args = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'bin', 'src', 'daemon', 'commands']
  const { summary } = JSON.parse(
    await output('node_modules/dependency-cruiser/bin/dependency-cruise.mjs', args, 'imports'),
  )
  return summary.violations.map((v: { from: string; rule: { name: string } }) => `${v.from} ${v.rule.name}`)
}

/** Both tools end with a failure code when they find something; the answer is on stdout either way. */
async function output(script: string, args: readonly string[], folder: string): Promise<string> {
  const options = { cwd: join(tree, folder), maxBuffer: OUTPUT_BYTES_MAX }
  try {
    return (await promisify(execFile)(process.execPath, [join(ROOT, script), ...args], options)).stdout
  } catch (error) {
    if (error instanceof Error && 'stdout' in error && error.stdout) return String(error.stdout)
    throw error
  }
}

function missing(plants: readonly Plant[], found: readonly string[]): string[] {
  const expected = plants.filter((row) => row.rule !== undefined).map((row) => `${row.at} ${row.rule}`)
  return expected.filter((line) => !found.includes(line))
}

/** Findings in rows that must stay silent: the exemptions have to hold too. */
function noise(plants: readonly Plant[], found: readonly string[]): string[] {
  const silent = plants.filter((row) => row.rule === undefined)
  return found.filter((line) => silent.some((row) => line.startsWith(`${row.at} `)))
}
