import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { publicScenarios } from './scenarios.testkit.ts'

describeScenarios('Public pages', publicScenarios)
