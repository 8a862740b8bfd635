import { refuse } from '../shell/ask.ts'
import type { Host } from '../shell/screen.ts'
import { goTo } from '../shell/ui.ts'

const JOB = /job_[0-9a-f]{16}/

/** Goes to the job that a row is about. @param texts - what is known of the row, one of them naming its job */
export function toItsJob(host: Host, texts: readonly (string | undefined)[]): void {
  const [id] = texts.flatMap((text) => JOB.exec(text ?? '')?.[0] ?? [])
  if (id === undefined) {
    refuse(host, 'No job belongs to what is chosen.')
    return
  }
  const ui = goTo(host.ui.get(), 'jobs')
  const filters = { ...ui.filters, jobs: `id:${id}` }
  host.ui.set({ ...ui, jobView: 'all', filters, pages: { ...ui.pages, jobs: 0 }, chosen: { ...ui.chosen, jobs: id } })
}
