// What a dashboard of bar charts may have in Grafana; a string stands for a member of an enumeration, as in JSON.
import type { Dashboard, Panel } from "@grafana/schema";
import type { Options } from "@grafana/schema/dist/esm/raw/composable/barchart/panelcfg/x/BarChartPanelCfg_types.gen";

type InJson<T> = { [K in keyof T]: T[K] extends string | undefined ? `${NonNullable<T[K]>}` : T[K] };
type BarChart = Omit<Panel, "type" | "options"> & { type: "barchart"; options: Partial<InJson<Options>> };
export type BarCharts = Omit<Dashboard, "panels"> & { panels: BarChart[] };
