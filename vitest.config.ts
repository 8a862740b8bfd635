import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { runnable } from './fixtures/kit/outside.ts'
import { reportOf } from './fixtures/kit/report.ts'
import { commitNumber, partOf, parts, type TestFile, testFiles } from './fixtures/kit/rings.ts'
import { breaking } from './fixtures/mutations/broken.ts'

/**
 * The same files over another port: what is paid, delivered, disputed, paid out and done by the clock, on a real chain.
 * Left out are those that hand in a chain of their own: they would run as they do anyway. What makes no sense on a chain
 * says so where it stands, by `onSandbox`.
 */
const onDevnet =
  /^daemon\/tests\/((balance|job|negotiation|product|referral|reputation|request|subscription|thread|participant)-scenarios|first-sale|commerce|money-flow)\.test\.ts$/
/** Of those, what also runs with keys of an external signer. */
const onSigner = /^daemon\/(tests\/(first-sale|money-flow)|features\/payouts\/payouts)\.test\.ts$/
/** Of those, what also runs over a store in PostgreSQL, in each run of everything. */
const onPostgres = onDevnet
/** They go deeper into the same paths, and take turns. */
const deepOnDevnet =
  /^daemon\/(tests\/(cron-crash|quoted-terms|foreign-clients)|features\/(payments|payouts|jobs|reputation)\/[\w-]+)\.test\.ts$/

/** Where to leave a machine-readable report; `.ci/run` counts the tests from it. */
const reportFile = process.env.SOUK_TEST_REPORT

const root = import.meta.dirname
const files = testFiles(root)
const commit = commitNumber(root)
const near = files.filter(({ ring }) => ring === 'first')
const rest = files.filter(({ ring }) => ring === 'rest')
const deep = files.filter(({ ring }) => ring === 'deep')
/** Those of the long ones whose turn it is. */
const deepTurn = partOf(deep, commit, parts.deep).filter(({ isIdle }) => !isIdle)
const slow = rest.filter(({ isSlow }) => isSlow)
const quick = rest.filter(({ isSlow }) => !isSlow)
const matching = (pattern: RegExp) => files.filter(({ path }) => pattern.test(path))
/** Which files a command runs, by its `--mode`; all of them where files are named. */
const chosen: Readonly<Record<string, () => readonly TestFile[]>> = {
  first: () => near,
  rest: () => [...rest, ...deepTurn],
  turn: () => [...quick, ...partOf(slow, commit, parts.slow), ...deepTurn],
  all: () => [...near, ...rest, ...deepTurn],
  deep: () => files.filter(({ ring, isSampled }) => ring === 'deep' || isSampled),
  devnet: () => [...matching(onDevnet), ...partOf(matching(deepOnDevnet), commit, parts.deep)],
  'devnet-turn': () => [
    ...partOf(matching(onDevnet), commit, parts.slow),
    ...partOf(matching(deepOnDevnet), commit, parts.deep),
  ],
  // With keys that do not lie in plain files.
  'devnet-signer': () => matching(onSigner),
  'devnet-encrypted': () => matching(onSigner),
  postgres: () => matching(onPostgres),
  'devnet-deep': () => matching(deepOnDevnet),
}

/** Where the keys of the marketplaces of a run lie: as the mode says, else another place for each commit. */
function keysOf(mode: string): string {
  const places = ['file', 'signer', 'encrypted']
  return places.find((place) => mode.endsWith(place)) ?? places[commit % places.length] ?? 'file'
}

/** The rest has the most that waits. On a database, a third worker would only load all modules once more. */
function workersOf(mode: string): number {
  if (mode.startsWith('postgres')) return 2
  return mode === 'rest' || mode === 'turn' ? 4 : 3
}

/** What takes longest begins first: a worker that it keeps to the end would leave the other idle. */
class DeepFirst extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const isDeep = ({ moduleId }: TestSpecification) => deep.some(({ path }) => moduleId.endsWith(`/${path}`))
    const sorted = await super.sort(specs)
    return [...sorted.filter(isDeep), ...sorted.filter((spec) => !isDeep(spec))]
  }
}

export default defineConfig(({ mode }) => {
  const isOnPostgres = mode.startsWith('postgres')
  const isRest = mode === 'rest' || mode === 'turn'
  const taken = runnable(root, (chosen[mode] ?? (() => files))())
  // What is long leaves much behind; a chain is one for each file.
  const isIsolated = ({ isApart, ring }: TestFile) => isApart || ring === 'deep' || mode.startsWith('devnet')
  // `SOUK_TEST_SHUFFLE=SEED npm test` runs files and tests in another order, but the tests of a story.
  const { SOUK_MUTATION: broken, SOUK_TEST_SHUFFLE } = process.env
  const seed = SOUK_TEST_SHUFFLE || undefined
  const inOrder = (file: TestFile) => seed === undefined || file.isStory
  const project = (name: string, isolate: boolean, ordered: boolean) => ({
    extends: true as const,
    test: {
      name,
      isolate,
      include: taken
        .filter((file) => !file.isAlone && isIsolated(file) === isolate && inOrder(file) === ordered)
        .map(({ path }) => path),
      ...(seed === undefined ? {} : { sequence: { seed: Number(seed), shuffle: { files: true, tests: !ordered } } }),
    },
  })
  const alone = {
    extends: true as const,
    test: {
      name: 'alone',
      include: taken.filter(({ isAlone }) => isAlone).map(({ path }) => path),
      sequence: { groupOrder: 1 },
    },
  }
  const projects = [true, false].flatMap((ordered) => [
    project(ordered ? 'shared' : 'shared, shuffled', false, ordered),
    project(ordered ? 'apart' : 'apart, shuffled', true, ordered),
  ])
  return {
    // A rule that `npm run mutations` breaks to see whether a test notices.
    plugins: broken === undefined ? [] : [breaking(broken)],
    test: {
      fsModuleCache: broken === undefined,
      // Files share the modules of a worker; one that minds says `@isolate` and why.
      projects: [...projects, alone].filter(({ test }) => test.include.length > 0),
      globalSetup: ['fixtures/kit/run-folder.ts', ...(isOnPostgres ? ['fixtures/kit/database-run.ts'] : [])],
      setupFiles: ['fixtures/kit/measure.ts'],
      // People see times in their own zone; what the tests expect of them is said in this one.
      env: {
        TZ: 'UTC',
        SOUK_TEST_COMMIT: String(commit),
        // Programs that run from sources compile each module once for all tests, not at every start.
        NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'souk-compiled'),
        ...(mode.startsWith('devnet') ? { SOUK_TEST_CHAIN: 'devnet' } : {}),
        ...(mode.startsWith('devnet') ? { SOUK_TEST_KEYS: keysOf(mode) } : {}),
        ...(mode.endsWith('deep') ? { SOUK_TEST_DEPTH: 'deep' } : {}),
      },
      pool: 'forks',
      // Programs of others are waited for more than they work.
      maxWorkers: workersOf(mode),
      ...(isRest ? { sequence: { sequencer: DeepFirst } } : {}),
      // Slow machines are waited for; nothing here measures time.
      testTimeout: 1_800_000,
      expect: { poll: { timeout: 600_000 } },
      hookTimeout: 1_800_000,
      teardownTimeout: 60_000,
      allowOnly: false,
      reporters: [
        'default',
        reportOf(files, taken),
        ...(reportFile === undefined ? [] : [['json', { outputFile: reportFile }] as ['json', { outputFile: string }]]),
      ],
    },
  }
})
