import type { CommandContext } from '../../cli/command.ts'
import type { FoundDaemon } from '../../client/discover.ts'

export type Examined = CommandContext<unknown, unknown>

export type Diagnosis = {
  readonly status: 'ok' | 'warning' | 'problem'
  readonly detail: string
  /** Command that fixes the problem. */
  readonly fix?: string
  /** Fixes what was found, if that is safe. @returns what was done */
  readonly mend?: () => Promise<string>
}

/** A check. It can have parts, each with a name and its own result. */
export type Examination = {
  readonly id: string
  look(host: Examined, found: FoundDaemon): Promise<Diagnosis> | Diagnosis
  readonly parts?: (host: Examined, wanted: LookBounds) => Promise<readonly PartDiagnosis[]>
}
/** With `online`, the check may send requests to external services. */
export type LookBounds = { readonly online: boolean }
export type PartDiagnosis = Omit<Diagnosis, 'mend' | 'fix'> & { readonly part: string }

export const fine = (detail: string): Diagnosis => ({ status: 'ok', detail })
