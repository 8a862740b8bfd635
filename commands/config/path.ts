import { defineCommand } from '../../src/cli/command.ts'

export const command = defineCommand({
  name: 'config path',
  summary: 'print the paths of config, data and logs',
  examples: ['souk config path', 'souk config path --json --fields config'],
  run: async ({ places: { config, data, state, runtime, cache } }) => ({ config, data, state, runtime, cache }),
  view(folders, io) {
    for (const [name, folder] of Object.entries(folders)) io.line(`${name.padEnd(7)}  ${folder}`)
  },
})
