"""Renders every overlay of deploy/kubernetes and checks it: the API's schema, what the service needs of its pod, and the
configuration by pixhistd itself. Started by check-manifests, in an environment with kubectl, PyYAML, kubernetes-validate.
"""

import collections
import copy
import json
import os
import pathlib
import re
import subprocess
import unittest

import kubernetes_validate
import yaml

OVERLAYS = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "kubernetes" / "overlays"
KUBECTL = os.environ.get("KUBECTL", "kubectl")
PIXHISTD = os.environ["PIXHISTD"]
# The oldest and the newest API that is supported upstream where this was written.
VERSIONS = ("1.31", "1.34")
UNIT = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def rendered(overlay):
    done = subprocess.run([KUBECTL, "kustomize", str(overlay)], capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr  # deprecations
    by_kind = collections.defaultdict(dict)
    for document in yaml.safe_load_all(done.stdout):
        by_kind[document["kind"]][document["metadata"]["name"]] = document
    return by_kind


def size(text):
    number, unit = re.fullmatch(r"(\d+)([KMG]i)", text).groups()
    return int(number) * UNIT[unit]


class OverlayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.overlays = {p.parent.name: rendered(p.parent) for p in sorted(OVERLAYS.glob("*/kustomization.yaml"))}

    def pods(self):
        """Overlay, its documents, name, StatefulSet, container of every release."""
        for overlay, documents in self.overlays.items():
            for name, stateful in documents["StatefulSet"].items():
                yield overlay, documents, name, stateful, stateful["spec"]["template"]["spec"]["containers"][0]

    def config(self, documents, stateful):
        wanted = stateful["spec"]["template"]["spec"]["volumes"][0]["configMap"]["name"]
        return json.loads(documents["ConfigMap"][wanted]["data"]["config.json"])

    def test_every_document_is_valid_in_the_api(self):
        for documents in self.overlays.values():
            for of_kind in documents.values():
                for name, document in of_kind.items():
                    for version in VERSIONS:
                        with self.subTest(name, kind=document["kind"], version=version):
                            kubernetes_validate.validate(document, version, strict=True)

    def test_a_mistake_would_be_found(self):
        stateful = copy.deepcopy(self.overlays["cpu"]["StatefulSet"]["pixhist"])
        stateful["spec"]["template"]["spec"]["enableServiceLink"] = False
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(stateful, VERSIONS[-1], strict=True)

    def test_the_kinds_and_names(self):
        self.assertEqual(set(self.overlays), {"cpu", "module-groups"})
        for overlay, documents in self.overlays.items():
            names = {"cpu": {"pixhist"}, "module-groups": {"pixhist-upper", "pixhist-lower"}}[overlay]
            for kind in ("StatefulSet", "Service", "NetworkPolicy"):
                self.assertEqual(set(documents[kind]), names)
            self.assertEqual({d["metadata"]["namespace"] for k in documents.values() for d in k.values()}, {"pixhist"})
            for name in documents["ConfigMap"]:
                self.assertRegex(name, r"^pixhist-config(-\w+)?-[0-9a-z]{10}$", "a checksum of the content")

    def test_a_service_and_a_policy_select_one_release(self):
        for _, documents, name, stateful, container in self.pods():
            labels = stateful["spec"]["template"]["metadata"]["labels"]
            self.assertEqual(stateful["spec"]["selector"]["matchLabels"], labels)
            self.assertEqual(documents["Service"][name]["spec"]["selector"], labels)
            self.assertEqual(documents["NetworkPolicy"][name]["spec"]["podSelector"]["matchLabels"], labels)
            self.assertEqual(stateful["spec"]["serviceName"], name)
            ports = {port["name"] for port in container["ports"]}
            self.assertEqual({port["targetPort"] for port in documents["Service"][name]["spec"]["ports"]}, ports)
            ingress = documents["NetworkPolicy"][name]["spec"]["ingress"]
            self.assertEqual({port["port"] for rule in ingress for port in rule["ports"]}, ports)
            clients = ingress[1]["from"][0]["podSelector"]
            self.assertEqual(clients, {"matchExpressions": [{"key": "pixhist-client", "operator": "In", "values": ["true"]}]})

    def test_the_pod_is_locked_down_and_ends_in_its_own_time(self):
        for _, documents, _, stateful, container in self.pods():
            pod = stateful["spec"]["template"]["spec"]
            self.assertFalse(pod["enableServiceLinks"])
            self.assertFalse(pod["automountServiceAccountToken"])
            self.assertEqual(stateful["spec"]["replicas"], 1)
            self.assertTrue(pod["securityContext"]["runAsNonRoot"])
            self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
            wanted = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
            self.assertEqual(container["securityContext"], wanted)
            shutdown = self.config(documents, stateful)["shutdown"]
            drain = shutdown["receive_grace_ms"] / 1000 + shutdown["timeout_s"]
            self.assertGreater(pod["terminationGracePeriodSeconds"], drain)
            for probe, path in (("startup", "/healthz"), ("liveness", "/healthz"), ("readiness", "/readyz")):
                self.assertEqual(container[probe + "Probe"]["httpGet"], {"path": path, "port": "http"})

    def test_the_gpu_and_its_absence(self):
        for overlay, _, _, _, container in self.pods():
            kind = {e["name"]: e["value"] for e in container["env"]}["PIXHIST__DEVICE__KIND"]
            gpus = container["resources"]["limits"].get("nvidia.com/gpu")
            self.assertEqual((kind, gpus), ("cpu", None) if overlay == "cpu" else ("cuda", 1))
            self.assertNotIn("nvidia.com/gpu", container["resources"]["requests"])
            self.assertEqual(container["image"], "pixhist:cpu" if overlay == "cpu" else "pixhist")

    def test_pixhistd_takes_the_configuration_and_fits_into_the_limits(self):
        for overlay, documents, name, stateful, container in self.pods():
            config = self.config(documents, stateful)
            # Without a GPU counts lie in host memory, with one on the device: here they are taken off.
            done = subprocess.run(
                [PIXHISTD, "--config", "/dev/stdin", "--set", "device.kind=cpu", "--check-config", "--json"],
                input=json.dumps(config), capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            memory = json.loads(done.stdout)["memory"]
            needed = sum(item["bytes"] for item in memory["at_start"] + memory["up_to"]
                         if overlay == "cpu" or not item["name"].startswith("counts of "))  # fmt: skip
            limit = size(container["resources"]["limits"]["memory"])
            self.assertEqual(container["resources"]["requests"]["memory"], container["resources"]["limits"]["memory"])
            self.assertGreaterEqual(limit, needed + 2**29, name)
            listens = {int(s["endpoint"].rsplit(":", 1)[1]) for s in config["sources"]}
            listens |= {int(config[key][of].rsplit(":", 1)[1]) for key, of in (("query", "endpoint"), ("http", "listen"))}
            self.assertEqual({port["containerPort"] for port in container["ports"]}, listens)
            self.assertNotEqual(config["query"]["allow_control"], "loopback", "behind a proxy everybody is loopback")


if __name__ == "__main__":
    unittest.main()
