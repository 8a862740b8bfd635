import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{src,daemon,commands,bin}/**/*.test.{ts,tsx}'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
