/** Keys of the rows that hold published documents. */
export function feedbackId(jobId: string): string {
  return `feedback:${jobId}`
}

export function evidenceId(root: string): string {
  return `evidence:${root}`
}
