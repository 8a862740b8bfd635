import { defineCommand } from '../../src/cli/command.ts'
import { inEditor } from '../../src/cli/files/editor.ts'
import { changeKept, draftOf } from '../../src/cli/nouns/config.ts'
import { readGlobals } from '../../src/cli/run/values.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'config edit',
  summary: 'edit the settings in your editor',
  description:
    'Opens the settings as YAML in $VISUAL or $EDITOR. Invalid input is reported and opened again; nothing is saved until all of it is valid.',
  examples: ['souk config edit --dry-run', 'souk config edit --dry-run --json'],
  async run(context) {
    wouldDo(context.globals, 'open the settings in your editor')
    return inEditor(context, {
      name: 'settings',
      text: draftOf(context),
      take: async (document) => {
        const changed = await changeKept(context, document, readGlobals)
        return { changed }
      },
    })
  },
  view({ changed }, io) {
    if (changed.length === 0) io.line('nothing has changed')
    for (const { key, value } of changed)
      io.line(`${green('✓')} ${key} ${value === null ? 'is its default again' : `is ${value}`}`)
  },
})
