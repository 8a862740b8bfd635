import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'

/** `souk_x_total{a="b"} 3`, as Prometheus 0.0.4 writes it. */
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/

export const command = defineCommand({
  name: 'admin metrics',
  summary: 'show Prometheus metrics',
  description: 'Needs the admin key of the instance.',
  options: z.object({
    match: z.string().default('').meta({ description: 'only metrics whose name starts with this', value: 'prefix' }),
  }),
  examples: ['souk admin metrics --match souk_', 'souk admin metrics --match souk_http --json'],
  async run(context) {
    const answer = await (await context.session()).open('getMetrics', {})
    const samples = (await answer.text()).split('\n').flatMap((line) => {
      const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
      return name === undefined || value === undefined ? [] : [{ name, labels, value }]
    })
    return { samples: samples.filter(({ name }) => name.startsWith(context.options.match)) }
  },
  rows: ({ samples }) => samples,
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'LABELS', value: ({ labels }) => labels },
    { title: 'VALUE', value: ({ value }) => value },
  ],
  view({ samples }, io) {
    for (const { name, labels, value } of samples) io.line(`${name}${labels === '' ? '' : `{${labels}}`} ${value}`)
  },
})
