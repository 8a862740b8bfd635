import { defineConfig } from 'vitest/config'
import { leftOut } from './fixtures/kit/left-out.ts'
import { slowTests } from './fixtures/kit/slow.ts'

/**
 * The same files over another port: what is paid, delivered, disputed, paid out and done by the clock, on a real chain.
 * Left out are those that hand in a chain of their own: they would run as they do anyway. What makes no sense on a chain
 * says so where it stands, by `onSandbox`.
 */
const onDevnet = [
  'daemon/tests/{balance,job,negotiation,product,referral,reputation,request,subscription,thread,participant}-scenarios.test.ts',
  'daemon/tests/{first-sale,commerce,cron-crash,money-flow,quoted-terms,foreign-clients}.test.ts',
  'daemon/features/{payments,payouts,jobs,reputation}/*.test.ts',
]

/** Where to leave a machine-readable report; `.ci/run` counts the tests from it. */
const reportFile = process.env.SOUK_TEST_REPORT

export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'devnet' ? onDevnet : ['{src,daemon,commands,bin,fixtures}/**/*.test.{ts,tsx}'],
    // People see times in their own zone; what the tests expect of them is said in this one.
    env: { TZ: 'UTC', ...(mode === 'devnet' ? { SOUK_TEST_CHAIN: 'devnet' } : {}) },
    exclude: ['**/node_modules/**', 'dist/**', ...(mode === 'fast' ? slowTests(import.meta.dirname) : [])],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    // Slow machines are waited for; nothing here measures time.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 120_000,
    teardownTimeout: 10_000,
    allowOnly: false,
    reporters:
      reportFile === undefined ? ['default', leftOut] : ['default', leftOut, ['json', { outputFile: reportFile }]],
  },
}))
