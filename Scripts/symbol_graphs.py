"""The modules of the last build of the tests, with their symbol graphs, for Scripts/api-check, Scripts/docc and
Scripts/apps-check."""
import concurrent.futures, json, os, re, subprocess

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class SymbolGraphError(Exception):
    pass


def modules():
    """The products' modules, and those of the package that they re-export: their declarations are used through the former."""
    manifest = open(f"{root}/Package.swift").read()
    products = re.findall(r'\.library\(\s*name: "\w+", targets: \[(.*?)\]', manifest)
    found = re.findall(r"\w+", " ".join(products))
    for module in found:
        for folder, _, files in os.walk(f"{root}/Sources/{module}"):
            for name in files:
                if name.endswith(".swift"):
                    text = open(f"{folder}/{name}").read()
                    found += re.findall(r"^@_exported public import (\w+)", text, re.M)
    return sorted(module for module in set(found) if os.path.isdir(f"{root}/Sources/{module}"))


class Build:
    """The last build of the tests."""

    def __init__(self):
        folder = os.environ.get("CRUMB_BUILD", f"{root}/.build")
        manifest = f"{folder}/debug.yaml"
        if not os.path.exists(manifest):
            raise SymbolGraphError("nothing is built; run Scripts/test first")
        version = subprocess.run(["swift", "--version"], capture_output=True, text=True).stdout
        self.compiler = re.search(r"Swift version \S+", version).group(0)
        target = re.search(r"Target: (\S+)", version).group(1)
        # The module maps of the C targets that the modules import.
        maps = sorted(set(re.findall(r'-fmodule-map-file=[^"]+', open(manifest).read())))
        self.flags = ["-target", target, "-I", f"{folder}/debug/Modules"]
        self.flags += [word for path in maps for word in ("-Xcc", path)]

    def symbol_graphs(self, names, folder):
        """Writes the public symbols of modules to a folder, and returns them by module."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return dict(zip(names, pool.map(lambda module: self._symbol_graphs(module, folder), names)))

    def _symbol_graphs(self, module, folder):
        command = ["swift-symbolgraph-extract", "-module-name", module, *self.flags]
        command += ["-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", folder]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            raise SymbolGraphError(
                f"module {module} cannot be read; build it with Scripts/test\n{run.stdout}{run.stderr}")
        names = sorted(n for n in os.listdir(folder) if re.match(rf"{module}(@\w+)?\.symbols\.json$", n))
        return [json.load(open(f"{folder}/{name}")) for name in names]
