import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { jobScenarios } from './scenarios.testkit.ts'

describeScenarios('Jobs', jobScenarios)
