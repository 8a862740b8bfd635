import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'config path',
  summary: 'print the paths of config, data and logs',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk config path', 'souk config path --json --fields config'],
  run: async ({ places: { config, data, state, runtime, cache } }) => ({ config, data, state, runtime, cache }),
  view(folders, io) {
    for (const [name, folder] of Object.entries(folders)) io.line(`${name.padEnd(7)}  ${folder}`)
  },
})
