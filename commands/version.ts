import { z } from 'zod'
import { defineCommand } from '../src/cli/command.ts'

export const command = defineCommand({
  name: 'version',
  summary: 'print the version of souk and of Node',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk version', 'souk version --json'],
  run: async ({ system }) => ({ version: system.version, node: system.node, platform: system.platform }),
  view: ({ version, node, platform }, io) => io.line(`souk ${version}   node ${node}   ${platform}`),
})
