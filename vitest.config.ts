import { defineConfig } from 'vitest/config'
import { leftOut } from './fixtures/kit/left-out.ts'
import { slowTests } from './fixtures/kit/slow.ts'

/** Where to leave a machine-readable report; `.ci/run` counts the tests from it. */
const reportFile = process.env.SOUK_TEST_REPORT

export default defineConfig(({ mode }) => ({
  test: {
    include: ['{src,daemon,commands,bin,fixtures}/**/*.test.{ts,tsx}'],
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
