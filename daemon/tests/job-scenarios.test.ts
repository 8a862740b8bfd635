import { jobScenarios } from '../../fixtures/scenarios/jobs.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'

describeScenarios('Jobs', jobScenarios)
