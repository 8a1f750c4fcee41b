// Updates the progress of the rescoring jobs and reloads the page when one is finished.
const list = document.getElementById("rescoring");
async function look() {
  try {
    const { runs } = await (await fetch(`${location.pathname}.json${location.search}`)).json();
    for (const run of runs) {
      const box = list.querySelector(`[data-run="${CSS.escape(run.id)}"]`);
      const bar = box?.querySelector("progress");
      if (!bar) continue;
      if (run.job?.state !== "waiting" && run.job?.state !== "working") { location.reload(); return; }
      bar.max = run.job.total || 1;
      bar.value = run.job.done;
      box.querySelector(".told").textContent = `${run.job.state}, ${run.job.done.toLocaleString("en")} of ${run.job.total.toLocaleString("en")} samples`;
    }
  } catch { /* the viewer was stopped; try again */ }
  setTimeout(look, 1000);
}
if (list?.dataset.working !== undefined) setTimeout(look, 500);
