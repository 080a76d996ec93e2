import ArgumentParser
import SelfieStudio

@main
enum SelfieStudioMain {
    static func main() async {
        await StudioCommand.main()
    }
}
